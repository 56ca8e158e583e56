-- Questions to a history, over the view all_nights (parquet_history.py) and the table labels. A macro's line of comment is
-- what `history query` lists. Each argument may be left out. Ratios are against the median of the hosts with the same
-- hardware on the same night, above 1: slower.

CREATE VIEW rows AS
SELECT night, started_at, id, host, machine, environment, tag, revision, complete, r."row" AS row_id, r.scale, r.device,
       r.config, r.status, r.repeats, len(r.totals_s) AS runs, coalesce(r.spoiled, 0) AS spoiled, r.phases_ms, r.metrics,
       -- As the program compares nights: without what others took, and without nights that others spoiled.
       CASE WHEN 2 * coalesce(r.spoiled, 0) <= len(r.totals_s)
            THEN list_median(CASE WHEN len(r.undisturbed_s) > 0 THEN r.undisturbed_s ELSE r.totals_s END) END AS total_s
FROM (SELECT *, unnest(rows) AS r FROM all_nights);

CREATE VIEW compared AS
SELECT *, total_s / median(total_s) OVER (PARTITION BY night, machine, row_id, scale, device, config) AS ratio
FROM rows WHERE total_s > 0;

CREATE MACRO night_of(day) AS CASE WHEN day IS NULL
  THEN (SELECT max(night) FROM all_nights WHERE night <= getvariable('today')) ELSE CAST(day AS DATE) END;

-- Hosts of a night, the slowest first: the median of its rows' ratios, and the slowest row. day=2026-01-31
CREATE MACRO slow_hosts(day := NULL) AS TABLE
SELECT host, machine, median(ratio) AS ratio, arg_max(row_id, ratio) AS slowest_row, max(ratio) AS its_ratio, count(*) AS rows
FROM compared WHERE night = night_of(day) GROUP BY ALL ORDER BY ratio DESC, host;

-- Night by night, a host's seconds and its ratio. name=HOST, of_row=7
CREATE MACRO drift(name := NULL, of_row := NULL) AS TABLE
SELECT night, host, row_id, total_s, ratio, tag, revision FROM compared
WHERE (name IS NULL OR host = name) AND (of_row IS NULL OR row_id = of_row) ORDER BY host, row_id, night;

-- Each row's median seconds with one tag (a driver's version, a branch) and with another. before=TAG, after=TAG
CREATE MACRO before_and_after(before := NULL, after := NULL) AS TABLE
SELECT machine, row_id, scale, device, config, median(total_s) FILTER (tag = before) AS before_s, median(total_s) FILTER (tag = after) AS after_s,
       after_s / before_s AS ratio, count(*) FILTER (tag = before) AS nights_before, count(*) FILTER (tag = after) AS nights_after
FROM compared GROUP BY ALL HAVING nights_before > 0 AND nights_after > 0 ORDER BY ratio DESC, row_id;

-- The same for two revisions of the sources, by their first characters. before=REVISION, after=REVISION
CREATE MACRO between_revisions(before := NULL, after := NULL) AS TABLE
SELECT machine, row_id, scale, device, config, median(total_s) FILTER (starts_with(revision, before)) AS before_s,
       median(total_s) FILTER (starts_with(revision, after)) AS after_s, after_s / before_s AS ratio
FROM compared GROUP BY ALL HAVING ratio IS NOT NULL ORDER BY ratio DESC, row_id;

-- Hosts with a common label (hosts.csv) on a night: their median ratio. of_label=rack, day=2026-01-31
CREATE MACRO by_label(of_label := NULL, day := NULL) AS TABLE
SELECT label, value, median(ratio) AS ratio, count(DISTINCT host) AS hosts FROM compared JOIN labels USING (host)
WHERE night = night_of(day) AND (of_label IS NULL OR label = of_label) GROUP BY ALL ORDER BY ratio DESC, label, value;

-- Hosts without a night on a day that had one in the seven days before. day=2026-01-31
CREATE MACRO missing_hosts(day := NULL) AS TABLE
SELECT host, last_night FROM (SELECT host, max(night) AS last_night FROM all_nights WHERE night <= night_of(day) GROUP BY host)
WHERE last_night BETWEEN night_of(day) - 7 AND night_of(day) - 1 ORDER BY last_night, host;

-- Rows of a night that failed, were skipped, or that others spoiled. day=2026-01-31
CREATE MACRO failed_rows(day := NULL) AS TABLE
SELECT host, row_id, CASE WHEN runs > 0 THEN 'SPOILED' ELSE status END AS status, runs, repeats FROM rows
WHERE night = night_of(day) AND total_s IS NULL ORDER BY host, row_id;

-- Two hosts on a night, row by row; ratio: a / b. a=HOST, b=HOST, day=2026-01-31
CREATE MACRO two_hosts(a := NULL, b := NULL, day := NULL) AS TABLE
SELECT row_id, scale, device, any_value(total_s) FILTER (host = a) AS a_s, any_value(total_s) FILTER (host = b) AS b_s,
       a_s / b_s AS ratio, count(DISTINCT config) = 1 AS same_settings
FROM compared WHERE night = night_of(day) AND host IN (a, b) GROUP BY ALL HAVING ratio IS NOT NULL ORDER BY ratio DESC, row_id;

-- Canaries of a night by host, with the ratio to the median of the same hardware. day=2026-01-31
CREATE MACRO canaries(day := NULL) AS TABLE
SELECT host, c.key AS canary, c.value AS ms, ms / median(ms) OVER (PARTITION BY machine, canary) AS ratio
FROM (SELECT host, machine, unnest(map_entries(canaries)) AS c FROM all_nights WHERE night = night_of(day))
ORDER BY ratio DESC, host, canary;

-- How much each row differs from night to night on the same host: median over hosts of the ratio's standard deviation.
CREATE MACRO noisiest_rows() AS TABLE
SELECT machine, row_id, median(deviation) AS deviation, count(*) AS hosts
FROM (SELECT machine, row_id, host, stddev_samp(ln(ratio)) AS deviation FROM compared GROUP BY ALL HAVING count(*) > 2)
GROUP BY ALL ORDER BY deviation DESC, row_id;

-- Kinds of hardware on a night: how many hosts, and how many images per second a row reaches. of_row=7, day=2026-01-31
CREATE MACRO hardware(of_row := NULL, day := NULL) AS TABLE
SELECT machine, row_id, count(DISTINCT host) AS hosts, median(total_s) AS total_s,
       median(metrics['images_per_second']) AS images_per_second
FROM compared WHERE night = night_of(day) AND (of_row IS NULL OR row_id = of_row) GROUP BY ALL ORDER BY row_id, total_s;
