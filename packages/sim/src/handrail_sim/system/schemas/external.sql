-- The media provider's index of shared storage; media_type is 0 for a file or folder, 1 image, 2 audio, 3 video.
CREATE TABLE android_metadata (locale TEXT);
INSERT INTO android_metadata VALUES ('en_US');
CREATE TABLE files (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, _data TEXT UNIQUE COLLATE NOCASE, _size INTEGER, format INTEGER,
  parent INTEGER, date_added INTEGER, date_modified INTEGER, mime_type TEXT, title TEXT, description TEXT,
  _display_name TEXT, picasa_id TEXT, orientation INTEGER, latitude DOUBLE, longitude DOUBLE, datetaken INTEGER,
  bucket_id TEXT, bucket_display_name TEXT, isprivate INTEGER, artist TEXT, album TEXT, composer TEXT, track INTEGER,
  year INTEGER, is_ringtone INTEGER, is_music INTEGER, is_alarm INTEGER, is_notification INTEGER, is_podcast INTEGER,
  duration INTEGER, bookmark INTEGER, media_type INTEGER, old_id INTEGER, is_drm INTEGER, width INTEGER,
  height INTEGER, owner_package_name TEXT DEFAULT NULL, is_hdr INTEGER, is_download INTEGER DEFAULT 0,
  download_uri TEXT, referer_uri TEXT, is_audiobook INTEGER DEFAULT 0, date_expires INTEGER, is_trashed INTEGER DEFAULT 0,
  group_id INTEGER, primary_directory TEXT, secondary_directory TEXT, document_id TEXT, instance_id TEXT,
  original_document_id TEXT, relative_path TEXT, volume_name TEXT DEFAULT 'external_primary', is_favorite INTEGER DEFAULT 0,
  is_pending INTEGER DEFAULT 0, generation_added INTEGER DEFAULT 0, generation_modified INTEGER DEFAULT 0,
  xmp BLOB, resolution TEXT, bitrate INTEGER, num_tracks INTEGER, author TEXT, album_artist TEXT, genre TEXT);
CREATE VIEW images AS SELECT * FROM files WHERE media_type = 1;
CREATE VIEW video AS SELECT * FROM files WHERE media_type = 3;
CREATE VIEW audio AS SELECT * FROM files WHERE media_type = 2;
CREATE VIEW downloads AS SELECT * FROM files WHERE is_download = 1;
