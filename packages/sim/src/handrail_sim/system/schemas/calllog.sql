-- The call log provider's table.
CREATE TABLE android_metadata (locale TEXT);
INSERT INTO android_metadata VALUES ('en_US');
CREATE TABLE calls (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, number TEXT, presentation INTEGER NOT NULL DEFAULT 1,
  post_dial_digits TEXT NOT NULL DEFAULT '', via_number TEXT NOT NULL DEFAULT '', date INTEGER, duration INTEGER,
  data_usage INTEGER, type INTEGER, features INTEGER NOT NULL DEFAULT 0, subscription_component_name TEXT,
  subscription_id TEXT, phone_account_address TEXT, phone_account_hidden INTEGER NOT NULL DEFAULT 0,
  sub_id INTEGER DEFAULT -1, new INTEGER, name TEXT, numbertype INTEGER, numberlabel TEXT, countryiso TEXT,
  voicemail_uri TEXT, is_read INTEGER, geocoded_location TEXT, lookup_uri TEXT, matched_number TEXT,
  normalized_number TEXT, photo_id INTEGER NOT NULL DEFAULT 0, photo_uri TEXT, formatted_number TEXT,
  add_for_all_users INTEGER NOT NULL DEFAULT 1, call_screening_app_name TEXT,
  call_screening_component_name TEXT, block_reason INTEGER NOT NULL DEFAULT 0, missed_reason INTEGER NOT NULL DEFAULT 0,
  priority INTEGER NOT NULL DEFAULT 0, subject TEXT, location TEXT, composer_photo_uri TEXT,
  transcription TEXT, transcription_state INTEGER NOT NULL DEFAULT 0, last_modified INTEGER DEFAULT 0,
  source_package TEXT, source_data TEXT, source_id TEXT, has_content INTEGER, mime_type TEXT, dirty INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0, backed_up INTEGER NOT NULL DEFAULT 0, restored INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0, is_call_log_phone_account_migration_pending INTEGER NOT NULL DEFAULT 0,
  is_business_call INTEGER NOT NULL DEFAULT 0, asserted_display_name TEXT);
CREATE TABLE properties (property_key TEXT PRIMARY KEY, property_value TEXT);
CREATE TABLE voicemail_status (_id INTEGER PRIMARY KEY AUTOINCREMENT, source_package TEXT UNIQUE NOT NULL,
  settings_uri TEXT, voicemail_access_uri TEXT, configuration_state INTEGER, data_channel_state INTEGER,
  notification_channel_state INTEGER);
