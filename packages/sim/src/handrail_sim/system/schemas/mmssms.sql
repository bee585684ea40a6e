-- The telephony provider's tables of messages. Java code of Android finds a message's thread; here a trigger does.
CREATE TABLE android_metadata (locale TEXT);
INSERT INTO android_metadata VALUES ('en_US');
CREATE TABLE canonical_addresses (_id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT, sub_id INTEGER DEFAULT -1);
CREATE TABLE threads (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, date INTEGER DEFAULT 0, message_count INTEGER DEFAULT 0, recipient_ids TEXT,
  snippet TEXT, snippet_cs INTEGER DEFAULT 0, read INTEGER DEFAULT 1, archived INTEGER DEFAULT 0,
  type INTEGER DEFAULT 0, error INTEGER DEFAULT 0, has_attachment INTEGER DEFAULT 0, sub_id INTEGER DEFAULT -1);
CREATE TABLE sms (
  _id INTEGER PRIMARY KEY, thread_id INTEGER, address TEXT, person INTEGER, date INTEGER, date_sent INTEGER DEFAULT 0,
  protocol INTEGER, read INTEGER DEFAULT 0, status INTEGER DEFAULT -1, type INTEGER, reply_path_present INTEGER,
  subject TEXT, body TEXT, service_center TEXT, locked INTEGER DEFAULT 0, sub_id INTEGER DEFAULT -1,
  error_code INTEGER DEFAULT -1, creator TEXT, seen INTEGER DEFAULT 0);
CREATE TABLE pdu (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id INTEGER, date INTEGER, date_sent INTEGER DEFAULT 0,
  msg_box INTEGER, read INTEGER DEFAULT 0, m_id TEXT, sub TEXT, sub_cs INTEGER, ct_t TEXT, ct_l TEXT, exp INTEGER,
  m_cls TEXT, m_type INTEGER, v INTEGER, m_size INTEGER, pri INTEGER, rr INTEGER, rpt_a INTEGER, resp_st INTEGER,
  st INTEGER, tr_id TEXT, retr_st INTEGER, retr_txt TEXT, retr_txt_cs INTEGER, read_status INTEGER, ct_cls INTEGER,
  resp_txt TEXT, d_tm INTEGER, d_rpt INTEGER, locked INTEGER DEFAULT 0, sub_id INTEGER DEFAULT -1,
  seen INTEGER DEFAULT 0, creator TEXT, text_only INTEGER DEFAULT 0);
CREATE TABLE part (
  _id INTEGER PRIMARY KEY AUTOINCREMENT, mid INTEGER, seq INTEGER DEFAULT 0, ct TEXT, name TEXT, chset INTEGER,
  cd TEXT, fn TEXT, cid TEXT, cl TEXT, ctt_s INTEGER, ctt_t TEXT, _data TEXT, text TEXT, sub_id INTEGER DEFAULT -1);
CREATE TABLE raw (
  _id INTEGER PRIMARY KEY, date INTEGER, reference_number INTEGER, count INTEGER, sequence INTEGER,
  destination_port INTEGER, address TEXT, sub_id INTEGER DEFAULT -1, pdu TEXT, deleted INTEGER DEFAULT 0,
  message_body TEXT, display_originating_addr TEXT);
CREATE TRIGGER sms_finds_thread AFTER INSERT ON sms WHEN coalesce(NEW.thread_id, 0) = 0 BEGIN
  INSERT INTO canonical_addresses (address) SELECT NEW.address WHERE NOT EXISTS (SELECT 1 FROM canonical_addresses
    WHERE replace(replace(address, ' ', ''), '-', '') = replace(replace(NEW.address, ' ', ''), '-', ''));
  INSERT INTO threads (recipient_ids) SELECT _id FROM canonical_addresses
    WHERE replace(replace(address, ' ', ''), '-', '') = replace(replace(NEW.address, ' ', ''), '-', '')
    AND NOT EXISTS (SELECT 1 FROM threads WHERE recipient_ids = CAST(canonical_addresses._id AS TEXT));
  UPDATE sms SET thread_id = (SELECT threads._id FROM threads JOIN canonical_addresses
    ON threads.recipient_ids = CAST(canonical_addresses._id AS TEXT)
    WHERE replace(replace(address, ' ', ''), '-', '') = replace(replace(NEW.address, ' ', ''), '-', '')) WHERE _id = NEW._id;
  UPDATE threads SET date = NEW.date, snippet = NEW.body, message_count = message_count + 1,
    read = CASE WHEN NEW.read = 0 THEN 0 ELSE read END, error = CASE WHEN NEW.type = 5 THEN 1 ELSE error END
    WHERE _id = (SELECT thread_id FROM sms WHERE _id = NEW._id);
END;
CREATE TRIGGER sms_read_in_thread AFTER UPDATE OF read ON sms BEGIN
  UPDATE threads SET read = NOT EXISTS (SELECT 1 FROM sms WHERE thread_id = NEW.thread_id AND read = 0)
    WHERE _id = NEW.thread_id;
END;
CREATE TRIGGER sms_leaves_thread AFTER DELETE ON sms BEGIN
  UPDATE threads SET message_count = message_count - 1,
    snippet = (SELECT body FROM sms WHERE thread_id = OLD.thread_id ORDER BY date DESC LIMIT 1),
    date = coalesce((SELECT date FROM sms WHERE thread_id = OLD.thread_id ORDER BY date DESC LIMIT 1), 0)
    WHERE _id = OLD.thread_id;
  DELETE FROM threads WHERE _id = OLD.thread_id
    AND NOT EXISTS (SELECT 1 FROM sms WHERE thread_id = OLD.thread_id);
END;
