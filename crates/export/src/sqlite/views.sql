CREATE INDEX message_by_time ON message (time_ns);
CREATE INDEX message_by_sender ON message (sender);
CREATE INDEX message_by_member ON message (member, interface);
CREATE INDEX call_by_member ON call (member, interface);
CREATE INDEX call_by_duration ON call (duration_ns);

CREATE VIEW messages AS
SELECT m.number,
       (m.time_ns - (SELECT min(time_ns) FROM message)) / 1e9 AS after_s,
       bus.name AS bus, m.type,
       sender.label AS sender, coalesce(recipient.label, destination.text) AS recipient,
       path.text AS path, interface.text AS interface, member.text AS member,
       error.text AS error, signature.text AS signature, m.size_bytes,
       call.outcome, call.duration_ns / 1e6 AS duration_ms, m.body
FROM message AS m
LEFT JOIN bus ON bus.id = m.bus
LEFT JOIN peer AS sender ON sender.id = m.sender
LEFT JOIN peer AS recipient ON recipient.id = m.recipient
LEFT JOIN text AS destination ON destination.id = m.destination
LEFT JOIN text AS path ON path.id = m.path
LEFT JOIN text AS interface ON interface.id = m.interface
LEFT JOIN text AS member ON member.id = m.member
LEFT JOIN text AS error ON error.id = m.error
LEFT JOIN text AS signature ON signature.id = m.signature
LEFT JOIN call ON call.number = m.call;

CREATE VIEW calls AS
SELECT c.number,
       (m.time_ns - (SELECT min(time_ns) FROM message)) / 1e9 AS after_s,
       caller.label AS caller, service.text AS service, path.text AS path,
       interface.text AS interface, member.text AS member,
       c.outcome, error.text AS error, c.duration_ns / 1e6 AS duration_ms,
       c.waited_ns / 1e6 AS waited_ms, c.size_bytes, c.reply
FROM call AS c
JOIN message AS m ON m.number = c.number
LEFT JOIN peer AS caller ON caller.id = m.sender
LEFT JOIN text AS service ON service.id = c.service
LEFT JOIN text AS path ON path.id = c.path
LEFT JOIN text AS interface ON interface.id = c.interface
LEFT JOIN text AS member ON member.id = c.member
LEFT JOIN text AS error ON error.id = c.error
WHERE NOT c.of_recorder;

-- Percentiles are nearest-rank values, like in `diligence stats`.
CREATE VIEW members AS
WITH ranked AS (
    SELECT service, interface, member, outcome, duration_ns, waited_ns, size_bytes,
           row_number() OVER (alike ORDER BY duration_ns) AS rank,
           count(*) OVER alike AS ranks
    FROM call
    WHERE NOT of_recorder
    WINDOW alike AS (PARTITION BY service, interface, member, outcome, duration_ns IS NULL)
), grouped AS (
    SELECT service, interface, member,
           count(*) AS calls,
           sum(outcome = 'returned') AS returned, sum(outcome = 'failed') AS failed,
           sum(outcome = 'timed out') AS timed_out, sum(outcome = 'callee left') AS callee_left,
           sum(outcome = 'caller left') AS caller_left, sum(outcome = 'waiting') AS waiting,
           max(duration_ns) FILTER (WHERE outcome = 'returned' AND rank = (ranks * 50 + 99) / 100) AS p50,
           max(duration_ns) FILTER (WHERE outcome = 'returned' AND rank = (ranks * 95 + 99) / 100) AS p95,
           max(duration_ns) FILTER (WHERE outcome = 'returned') AS longest,
           sum(waited_ns) AS waited,
           sum(size_bytes) AS size_bytes
    FROM ranked
    GROUP BY service, interface, member
)
SELECT service.text AS service, interface.text AS interface, member.text AS member,
       calls, returned, failed, timed_out, callee_left, caller_left, waiting,
       p50 / 1e6 AS p50_ms, p95 / 1e6 AS p95_ms, longest / 1e6 AS max_ms, waited / 1e6 AS total_ms,
       size_bytes
FROM grouped
LEFT JOIN text AS service ON service.id = grouped.service
LEFT JOIN text AS interface ON interface.id = grouped.interface
LEFT JOIN text AS member ON member.id = grouped.member
ORDER BY waited DESC;

CREATE VIEW slowest_calls AS
SELECT * FROM calls WHERE waited_ms IS NOT NULL ORDER BY waited_ms DESC;

CREATE VIEW unanswered_calls AS
SELECT * FROM calls WHERE outcome IN ('timed out', 'callee left', 'caller left', 'waiting') ORDER BY number;

CREATE VIEW talkers AS
SELECT peer.label AS sender, peer.unique_name, peer.pid, peer.comm, peer.unit,
       count(*) AS messages, sum(m.type = 'method_call') AS calls, sum(m.type = 'signal') AS signals,
       sum(m.size_bytes) AS size_bytes
FROM message AS m
JOIN peer ON peer.id = m.sender
WHERE NOT m.of_recorder
GROUP BY peer.id
ORDER BY messages DESC;

CREATE VIEW signals AS
SELECT peer.label AS sender, interface.text AS interface, member.text AS signal,
       count(*) AS signals, sum(m.size_bytes) AS size_bytes
FROM message AS m
LEFT JOIN peer ON peer.id = m.sender
LEFT JOIN text AS interface ON interface.id = m.interface
LEFT JOIN text AS member ON member.id = m.member
WHERE m.type = 'signal' AND NOT m.of_recorder
GROUP BY m.sender, m.interface, m.member
ORDER BY signals DESC;
