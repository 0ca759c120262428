-- Times are nanoseconds since 1970 by the clock of the recording machine. Missing values are NULL.
PRAGMA application_id = 1145849667; -- "DLGC"
PRAGMA user_version = 2;            -- the version of this schema

-- The recording program and machine. A recording of several files has several rows.
CREATE TABLE origin (program TEXT, hardware TEXT, system TEXT, comments TEXT) STRICT;

CREATE TABLE bus (
    id      INTEGER PRIMARY KEY,
    name    TEXT,          -- session, system, or the name in the recording
    address TEXT,
    method  TEXT NOT NULL  -- the source of the times: trace, monitor, eavesdrop, unknown
) STRICT;

-- Connections.
CREATE TABLE peer (
    id          INTEGER PRIMARY KEY,
    bus         INTEGER NOT NULL REFERENCES bus,
    unique_name TEXT NOT NULL,    -- org.freedesktop.DBus for the bus itself
    label       TEXT NOT NULL,    -- the first well-known name, or the program, or the unique name
    is_recorder INTEGER NOT NULL, -- 1: a connection of the recorder
    pid INTEGER, uid INTEGER, comm TEXT, exe TEXT,
    command     TEXT,             -- the command line as a JSON list
    unit TEXT, cgroup TEXT,
    started_ns  INTEGER,          -- the start of the process
    arrived_ns  INTEGER,          -- when the connection was made, if that is in the recording
    left_ns     INTEGER,          -- when the connection ended, if that is in the recording
    left_why    TEXT              -- the reason, if the bus ended it
) STRICT;

-- Well-known names with their successive owners.
CREATE TABLE name (
    bus      INTEGER NOT NULL REFERENCES bus,
    name     TEXT NOT NULL,
    owner    INTEGER NOT NULL REFERENCES peer,
    since_ns INTEGER,             -- NULL: since before the recording
    until_ns INTEGER              -- NULL: until the end of the recording
) STRICT;

-- Header fields of messages as texts. Each text is stored once.
CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE message (
    number       INTEGER PRIMARY KEY,             -- position in the recording, from 1
    time_ns      INTEGER NOT NULL,
    bus          INTEGER NOT NULL REFERENCES bus,
    type         TEXT NOT NULL,                   -- method_call, method_return, error, signal
    sender       INTEGER REFERENCES peer,
    recipient    INTEGER REFERENCES peer,         -- the owner of the destination
    destination  INTEGER REFERENCES text,         -- the destination in the header
    path         INTEGER REFERENCES text,         -- for replies, this and the next two
    interface    INTEGER REFERENCES text,         -- columns are taken from the call
    member       INTEGER REFERENCES text,
    error        INTEGER REFERENCES text,         -- the name of the error
    signature    INTEGER REFERENCES text,
    flags        INTEGER NOT NULL,
    serial       INTEGER,
    reply_serial INTEGER,
    size_bytes   INTEGER NOT NULL,                -- size in bytes on the wire
    kept_bytes   INTEGER NOT NULL,                -- the part of it that is in the recording
    unix_fds     INTEGER NOT NULL,
    state        TEXT NOT NULL,                   -- whole, body cut, body redacted, header cut,
                                                  -- body invalid, header invalid
    call         INTEGER,                         -- the number of the call: its own, or the one it replies to
    of_recorder  INTEGER NOT NULL,                -- 1: the message is from or to the recorder
    body         TEXT,                            -- the arguments as a JSON list; NULL if the message is incomplete
    -- Only in traces of the bus: the time from receiving the message to determining its recipients.
    routed_after_ns INTEGER,
    receive_ns   INTEGER,                         -- the part for reading the bytes; NULL if not measured
    wait_ns      INTEGER,                         -- the part for routing other messages of the same read
    dispatch_ns  INTEGER,                         -- the part for finding the recipients, without match_ns
    match_ns     INTEGER,                         -- the part for searching match rules
    send_ns      INTEGER                          -- the time from then until the last copy was written
) STRICT;

-- Calls with their outcomes. The reply may be a message that the query does not select.
CREATE TABLE call (
    number      INTEGER PRIMARY KEY REFERENCES message,
    service     INTEGER REFERENCES text, -- the called well-known name, or the label of the peer
    path        INTEGER REFERENCES text,
    interface   INTEGER REFERENCES text,
    member      INTEGER REFERENCES text,
    outcome     TEXT NOT NULL,           -- returned, failed, timed out, callee left,
                                         -- caller left, waiting, unknown, no reply expected
    error       INTEGER REFERENCES text, -- the error name of the reply
    reply       INTEGER,                 -- number of the reply
    duration_ns INTEGER,                 -- from the call to the reply
    size_bytes  INTEGER NOT NULL,        -- size in bytes of call and reply
    of_recorder INTEGER NOT NULL,
    waited_ns   INTEGER                  -- how long the caller waited: until the reply, until it
                                         -- disconnected, or until the recording ended
) STRICT;

-- Copies of messages. Only in traces of the bus.
CREATE TABLE delivery (
    message          INTEGER NOT NULL REFERENCES message,
    recipient        TEXT NOT NULL,    -- unique name
    written_after_ns INTEGER,          -- from receiving the message to the end of writing the copy
    rules            INTEGER NOT NULL, -- the number of match rules that selected it; 0: unicast
    begun_after_ns   INTEGER           -- from receiving the message to writing the first bytes
) STRICT;

-- Other data of recorders: match rules, activatable names, starts of services, dropped messages.
-- capture-format.md describes the keys of the JSON.
CREATE TABLE fact (
    time_ns INTEGER NOT NULL,
    bus     INTEGER NOT NULL REFERENCES bus,
    fact    TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

-- Problems of the recording: missing messages, and messages that violate the specification.
CREATE TABLE gap (
    time_ns INTEGER,
    bus     INTEGER NOT NULL REFERENCES bus,
    cause   TEXT NOT NULL,
    lost    INTEGER               -- the number of messages, if known
) STRICT;
CREATE TABLE invalid (message INTEGER NOT NULL REFERENCES message, rule TEXT NOT NULL) STRICT;
