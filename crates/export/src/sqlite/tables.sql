-- Times are nanoseconds since 1970 by the clock of the machine that recorded. What is absent is NULL.
PRAGMA application_id = 1145849667; -- "DLGC"
PRAGMA user_version = 2;            -- the version of this schema

-- Who recorded; a recording of several files has several.
CREATE TABLE origin (program TEXT, hardware TEXT, system TEXT, comments TEXT) STRICT;

CREATE TABLE bus (
    id      INTEGER PRIMARY KEY,
    name    TEXT,          -- session, system, or what the recording calls it
    address TEXT,
    method  TEXT NOT NULL  -- trace, monitor, eavesdrop, unknown: where the times come from
) STRICT;

-- Connections.
CREATE TABLE peer (
    id          INTEGER PRIMARY KEY,
    bus         INTEGER NOT NULL REFERENCES bus,
    unique_name TEXT NOT NULL,    -- of the bus itself org.freedesktop.DBus
    label       TEXT NOT NULL,    -- its first well-known name, or its program, or its unique name
    is_recorder INTEGER NOT NULL, -- 1: it is there only because somebody records
    pid INTEGER, uid INTEGER, comm TEXT, exe TEXT,
    command     TEXT,             -- a JSON list of words
    unit TEXT, cgroup TEXT,
    started_ns  INTEGER,          -- when the process began
    arrived_ns  INTEGER,          -- when the connection came, if that was seen
    left_ns     INTEGER,          -- when it left, if that was seen
    left_why    TEXT              -- why the bus ended it
) STRICT;

-- Well-known names with their owners, one after the other.
CREATE TABLE name (
    bus      INTEGER NOT NULL REFERENCES bus,
    name     TEXT NOT NULL,
    owner    INTEGER NOT NULL REFERENCES peer,
    since_ns INTEGER,             -- NULL: before the recording
    until_ns INTEGER              -- NULL: to its end
) STRICT;

-- Texts of messages, each once.
CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE message (
    number       INTEGER PRIMARY KEY,             -- place in the recording, from 1
    time_ns      INTEGER NOT NULL,
    bus          INTEGER NOT NULL REFERENCES bus,
    type         TEXT NOT NULL,                   -- method_call, method_return, error, signal
    sender       INTEGER REFERENCES peer,
    recipient    INTEGER REFERENCES peer,         -- whom the destination stood for
    destination  INTEGER REFERENCES text,         -- the name that it is addressed to
    path         INTEGER REFERENCES text,         -- of replies, here and in the next
    interface    INTEGER REFERENCES text,         -- two, what their call has
    member       INTEGER REFERENCES text,
    error        INTEGER REFERENCES text,         -- the name of the error
    signature    INTEGER REFERENCES text,
    flags        INTEGER NOT NULL,
    serial       INTEGER,
    reply_serial INTEGER,
    size_bytes   INTEGER NOT NULL,                -- bytes on the wire
    kept_bytes   INTEGER NOT NULL,                -- of these, bytes in the recording
    unix_fds     INTEGER NOT NULL,
    state        TEXT NOT NULL,                   -- whole, body cut, body redacted, header cut,
                                                  -- body invalid, header invalid
    call         INTEGER,                         -- number of the call that it is or answers
    of_recorder  INTEGER NOT NULL,                -- 1: it is there only because somebody records
    body         TEXT,                            -- its arguments: a JSON list; NULL if it is not whole
    -- If the bus itself has recorded: from when the bus received it until it had determined the recipients.
    routed_after_ns INTEGER,
    receive_ns   INTEGER,                         -- part of it for reading the bytes; NULL if it was not measured,
    wait_ns      INTEGER,                         -- routing other messages of the same read,
    dispatch_ns  INTEGER,                         -- finding the recipients, without the next,
    match_ns     INTEGER,                         -- and the search of match rules
    send_ns      INTEGER                          -- from then until the last copy was written
) STRICT;

-- Calls with what became of them. The reply may be a message that the query has left out.
CREATE TABLE call (
    number      INTEGER PRIMARY KEY REFERENCES message,
    service     INTEGER REFERENCES text, -- the well-known name that is called, or the label of the peer
    path        INTEGER REFERENCES text,
    interface   INTEGER REFERENCES text,
    member      INTEGER REFERENCES text,
    outcome     TEXT NOT NULL,           -- returned, failed, timed out, callee left,
                                         -- caller left, waiting, unknown, no reply expected
    error       INTEGER REFERENCES text, -- the name of the error that answered
    reply       INTEGER,                 -- number of the reply
    duration_ns INTEGER,                 -- from the call to its reply
    size_bytes  INTEGER NOT NULL,        -- bytes of call and reply
    of_recorder INTEGER NOT NULL,
    waited_ns   INTEGER                  -- how long the caller waited: until the reply, until it
                                         -- left, or until the recording ended
) STRICT;

-- Copies of messages, if the bus itself has recorded.
CREATE TABLE delivery (
    message          INTEGER NOT NULL REFERENCES message,
    recipient        TEXT NOT NULL,    -- unique name
    written_after_ns INTEGER,          -- from when the bus received it until the copy had left
    rules            INTEGER NOT NULL, -- match rules that asked for it; 0: it was addressed
    begun_after_ns   INTEGER           -- from when the bus received it until the first bytes had left
) STRICT;

-- What recorders have learned besides: match rules, names that can be started, starts of services,
-- messages that were dropped. The keys of the JSON stand in capture-format.md.
CREATE TABLE fact (
    time_ns INTEGER NOT NULL,
    bus     INTEGER NOT NULL REFERENCES bus,
    fact    TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

-- What is wrong with the recording: messages that are missing, and that break the specification.
CREATE TABLE gap (
    time_ns INTEGER,
    bus     INTEGER NOT NULL REFERENCES bus,
    cause   TEXT NOT NULL,
    lost    INTEGER               -- how many, if they were counted
) STRICT;
CREATE TABLE invalid (message INTEGER NOT NULL REFERENCES message, rule TEXT NOT NULL) STRICT;
