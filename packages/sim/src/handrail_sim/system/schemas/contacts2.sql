-- The contacts provider's tables and views. Java code of Android joins raw contacts to people; here triggers do.
CREATE TABLE android_metadata (locale TEXT);
INSERT INTO android_metadata VALUES ('en_US');
CREATE TABLE accounts (_id INTEGER PRIMARY KEY AUTOINCREMENT, account_name TEXT, account_type TEXT, data_set TEXT);
INSERT INTO accounts (account_name, account_type) VALUES (NULL, NULL);
CREATE TABLE mimetypes (_id INTEGER PRIMARY KEY AUTOINCREMENT, mimetype TEXT NOT NULL UNIQUE);
INSERT INTO mimetypes (mimetype) VALUES
  ('vnd.android.cursor.item/email_v2'), ('vnd.android.cursor.item/im'), ('vnd.android.cursor.item/nickname'),
  ('vnd.android.cursor.item/organization'), ('vnd.android.cursor.item/phone_v2'),
  ('vnd.android.cursor.item/sip_address'), ('vnd.android.cursor.item/name'),
  ('vnd.android.cursor.item/postal-address_v2'), ('vnd.android.cursor.item/identity'),
  ('vnd.android.cursor.item/photo'), ('vnd.android.cursor.item/group_membership'),
  ('vnd.android.cursor.item/note'), ('vnd.android.cursor.item/website'),
  ('vnd.android.cursor.item/contact_event');
CREATE TABLE contacts (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, name_raw_contact_id INTEGER, photo_id INTEGER, photo_file_id INTEGER,
  custom_ringtone TEXT, send_to_voicemail INTEGER NOT NULL DEFAULT 0, x_times_contacted INTEGER NOT NULL DEFAULT 0,
  x_last_time_contacted INTEGER, starred INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0,
  has_phone_number INTEGER NOT NULL DEFAULT 0, lookup TEXT, status_update_id INTEGER,
  contact_last_updated_timestamp INTEGER);
CREATE TABLE raw_contacts (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INTEGER DEFAULT 1 REFERENCES accounts(_id), sourceid TEXT,
  backup_id TEXT, raw_contact_is_read_only INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1,
  dirty INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0, metadata_dirty INTEGER NOT NULL DEFAULT 0,
  contact_id INTEGER REFERENCES contacts(_id), aggregation_mode INTEGER NOT NULL DEFAULT 0,
  aggregation_needed INTEGER NOT NULL DEFAULT 1, custom_ringtone TEXT, send_to_voicemail INTEGER NOT NULL DEFAULT 0,
  x_times_contacted INTEGER NOT NULL DEFAULT 0, x_last_time_contacted INTEGER, starred INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0, display_name TEXT, display_name_alt TEXT,
  display_name_source INTEGER NOT NULL DEFAULT 0, phonetic_name TEXT, phonetic_name_style TEXT, sort_key TEXT,
  phonebook_label TEXT, phonebook_bucket INTEGER, sort_key_alt TEXT, phonebook_label_alt TEXT,
  phonebook_bucket_alt INTEGER, name_verified INTEGER NOT NULL DEFAULT 0, sync1 TEXT, sync2 TEXT, sync3 TEXT,
  sync4 TEXT);
CREATE TABLE data (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, package_id INTEGER, mimetype_id INTEGER NOT NULL REFERENCES mimetypes(_id),
  raw_contact_id INTEGER NOT NULL REFERENCES raw_contacts(_id), hash_id TEXT, is_read_only INTEGER NOT NULL DEFAULT 0,
  is_primary INTEGER NOT NULL DEFAULT 0, is_super_primary INTEGER NOT NULL DEFAULT 0,
  data_version INTEGER NOT NULL DEFAULT 0, data1 TEXT, data2 TEXT, data3 TEXT, data4 TEXT, data5 TEXT, data6 TEXT,
  data7 TEXT, data8 TEXT, data9 TEXT, data10 TEXT, data11 TEXT, data12 TEXT, data13 TEXT, data14 TEXT, data15 TEXT,
  data_sync1 TEXT, data_sync2 TEXT, data_sync3 TEXT, data_sync4 TEXT, carrier_presence INTEGER NOT NULL DEFAULT 0,
  preferred_phone_account_component_name TEXT, preferred_phone_account_id TEXT);
CREATE INDEX data_raw_contact_id ON data (raw_contact_id);
CREATE TABLE phone_lookup (
  data_id INTEGER PRIMARY KEY NOT NULL, raw_contact_id INTEGER NOT NULL, normalized_number TEXT NOT NULL,
  min_match TEXT NOT NULL);
CREATE TABLE name_lookup (
  data_id INTEGER NOT NULL, raw_contact_id INTEGER NOT NULL, normalized_name TEXT NOT NULL,
  name_type INTEGER NOT NULL, PRIMARY KEY (data_id, normalized_name, name_type));
CREATE TABLE groups (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, package_id INTEGER, account_id INTEGER, sourceid TEXT,
  version INTEGER NOT NULL DEFAULT 1, dirty INTEGER NOT NULL DEFAULT 0, title TEXT, title_res INTEGER, notes TEXT,
  system_id TEXT, deleted INTEGER NOT NULL DEFAULT 0, group_visible INTEGER NOT NULL DEFAULT 0,
  should_sync INTEGER NOT NULL DEFAULT 1, auto_add INTEGER NOT NULL DEFAULT 0, favorites INTEGER NOT NULL DEFAULT 0,
  group_is_read_only INTEGER NOT NULL DEFAULT 0, sync1 TEXT, sync2 TEXT, sync3 TEXT, sync4 TEXT);
CREATE TABLE deleted_contacts (contact_id INTEGER PRIMARY KEY, contact_deleted_timestamp INTEGER NOT NULL DEFAULT 0);

CREATE VIEW view_data AS SELECT
  data._id AS _id, data.hash_id, data.raw_contact_id, raw.contact_id, raw.account_id, accounts.account_name,
  accounts.account_type, accounts.data_set, raw.sourceid, raw.version, raw.dirty, data.data_version,
  mimetypes.mimetype, data.is_primary, data.is_super_primary, data.data1, data.data2, data.data3, data.data4,
  data.data5, data.data6, data.data7, data.data8, data.data9, data.data10, data.data11, data.data12, data.data13,
  data.data14, data.data15, data.data_sync1, data.data_sync2, data.data_sync3, data.data_sync4, raw.display_name,
  raw.display_name_alt, raw.sort_key, contacts.starred, contacts.pinned, contacts.has_phone_number, contacts.lookup,
  contacts.photo_id, contacts.custom_ringtone, contacts.send_to_voicemail, contacts.name_raw_contact_id
  FROM data JOIN mimetypes ON data.mimetype_id = mimetypes._id JOIN raw_contacts AS raw ON data.raw_contact_id = raw._id
  JOIN contacts ON raw.contact_id = contacts._id JOIN accounts ON raw.account_id = accounts._id;
CREATE VIEW view_raw_contacts AS SELECT
  raw_contacts._id AS _id, contact_id, aggregation_mode, raw_contact_is_read_only, deleted, display_name_source,
  display_name, display_name_alt, phonetic_name, phonetic_name_style, sort_key, phonebook_label, phonebook_bucket,
  sort_key_alt, phonebook_label_alt, phonebook_bucket_alt, name_verified, send_to_voicemail, custom_ringtone, starred,
  pinned, account_name, account_type, data_set, sourceid, backup_id, version, dirty, sync1, sync2, sync3, sync4
  FROM raw_contacts JOIN accounts ON raw_contacts.account_id = accounts._id;
CREATE VIEW view_contacts AS SELECT
  contacts._id AS _id, contacts.custom_ringtone, raw.display_name_source, raw.display_name, raw.display_name_alt,
  raw.phonetic_name, raw.phonetic_name_style, raw.sort_key, raw.phonebook_label, raw.phonebook_bucket,
  raw.sort_key_alt, raw.phonebook_label_alt, raw.phonebook_bucket_alt, contacts.has_phone_number,
  contacts.name_raw_contact_id, contacts.lookup, contacts.photo_id, contacts.photo_file_id, 1 AS in_visible_group,
  0 AS in_default_directory, contacts.status_update_id, contacts.contact_last_updated_timestamp, contacts.starred,
  contacts.pinned, contacts.send_to_voicemail, 0 AS is_user_profile
  FROM contacts JOIN raw_contacts AS raw ON contacts.name_raw_contact_id = raw._id;
CREATE VIEW view_v1_phones AS SELECT
  data._id AS _id, data.raw_contact_id AS person, data.is_super_primary AS isprimary, data.data1 AS number,
  data.data2 AS type, data.data3 AS label, phone_lookup.normalized_number AS number_key, raw.display_name AS name,
  raw.display_name AS display_name, raw.starred, raw.custom_ringtone, raw.send_to_voicemail
  FROM data JOIN raw_contacts AS raw ON data.raw_contact_id = raw._id
  LEFT JOIN phone_lookup ON phone_lookup.data_id = data._id
  WHERE data.mimetype_id = (SELECT _id FROM mimetypes WHERE mimetype = 'vnd.android.cursor.item/phone_v2');

CREATE TRIGGER raw_contact_added AFTER INSERT ON raw_contacts WHEN NEW.contact_id IS NULL BEGIN
  INSERT INTO contacts (name_raw_contact_id, starred, lookup) VALUES (NEW._id, NEW.starred, '0r' || NEW._id);
  UPDATE raw_contacts SET contact_id = last_insert_rowid(), aggregation_needed = 0 WHERE _id = NEW._id;
END;
CREATE TRIGGER raw_contact_starred AFTER UPDATE OF starred ON raw_contacts WHEN NEW.starred != OLD.starred BEGIN
  UPDATE contacts SET starred = NEW.starred WHERE _id = NEW.contact_id;
END;
CREATE TRIGGER contact_starred AFTER UPDATE OF starred ON contacts WHEN NEW.starred != OLD.starred BEGIN
  UPDATE raw_contacts SET starred = NEW.starred WHERE contact_id = NEW._id;
END;
CREATE TRIGGER raw_contact_deleted BEFORE DELETE ON raw_contacts BEGIN
  DELETE FROM data WHERE raw_contact_id = OLD._id;
  DELETE FROM contacts WHERE _id = OLD.contact_id
    AND (SELECT count(*) FROM raw_contacts WHERE contact_id = OLD.contact_id) = 1;
END;
CREATE TRIGGER contact_deleted BEFORE DELETE ON contacts BEGIN
  INSERT OR REPLACE INTO deleted_contacts VALUES (OLD._id, strftime('%s', 'now') * 1000);
END;
CREATE TRIGGER data_added AFTER INSERT ON data BEGIN
  UPDATE raw_contacts SET display_name = NEW.data1, sort_key = NEW.data1, display_name_source = 40,
    display_name_alt = CASE WHEN NEW.data3 != '' AND NEW.data2 != ''
      THEN NEW.data3 || ', ' || NEW.data2 ELSE NEW.data1 END
    WHERE _id = NEW.raw_contact_id AND NEW.mimetype_id =
      (SELECT _id FROM mimetypes WHERE mimetype = 'vnd.android.cursor.item/name');
  UPDATE raw_contacts SET display_name = NEW.data1, display_name_alt = NEW.data1, sort_key = NEW.data1,
    display_name_source = 20 WHERE _id = NEW.raw_contact_id AND display_name_source < 20 AND NEW.mimetype_id =
      (SELECT _id FROM mimetypes WHERE mimetype = 'vnd.android.cursor.item/phone_v2');
  INSERT INTO phone_lookup SELECT NEW._id, NEW.raw_contact_id,
      replace(replace(replace(replace(replace(NEW.data1, ' ', ''), '-', ''), '(', ''), ')', ''), '.', ''), '' FROM mimetypes
      WHERE _id = NEW.mimetype_id AND mimetype = 'vnd.android.cursor.item/phone_v2' AND NEW.data1 IS NOT NULL;
  UPDATE contacts SET has_phone_number = 1
    WHERE _id = (SELECT contact_id FROM raw_contacts WHERE _id = NEW.raw_contact_id)
    AND EXISTS (SELECT 1 FROM phone_lookup WHERE data_id = NEW._id);
END;
CREATE TRIGGER data_deleted AFTER DELETE ON data BEGIN
  DELETE FROM phone_lookup WHERE data_id = OLD._id;
  UPDATE contacts SET has_phone_number = EXISTS (SELECT 1 FROM phone_lookup WHERE raw_contact_id = OLD.raw_contact_id)
    WHERE name_raw_contact_id = OLD.raw_contact_id;
END;
CREATE TRIGGER data_changed AFTER UPDATE OF data1, data2, data3 ON data BEGIN
  UPDATE data SET data_version = data_version + 1 WHERE _id = NEW._id;
  UPDATE raw_contacts SET version = version + 1, dirty = 1 WHERE _id = NEW.raw_contact_id;
  UPDATE raw_contacts SET display_name = NEW.data1, sort_key = NEW.data1,
    display_name_alt = CASE WHEN NEW.data3 != '' AND NEW.data2 != ''
      THEN NEW.data3 || ', ' || NEW.data2 ELSE NEW.data1 END
    WHERE _id = NEW.raw_contact_id AND NEW.mimetype_id =
      (SELECT _id FROM mimetypes WHERE mimetype = 'vnd.android.cursor.item/name');
  UPDATE phone_lookup SET normalized_number =
    replace(replace(replace(replace(replace(NEW.data1, ' ', ''), '-', ''), '(', ''), ')', ''), '.', '') WHERE data_id = NEW._id;
END;
