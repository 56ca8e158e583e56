-- What `fleet` judges, of the nights in table latest: each host's figures tonight, beside those of its hardware and its own
-- past.
CREATE TABLE judged AS
WITH latest_rows AS MATERIALIZED (
  SELECT night, host, machine, r."row" AS of, hash(r."row", r.scale, r.device, r.config) AS of_row, r.phases_ms AS phases,
         list_median(CASE WHEN len(r.undisturbed_s) > 0 THEN r.undisturbed_s ELSE r.totals_s END) AS total_s
  FROM (SELECT latest.night, host, latest.machine, unnest(rows) AS r FROM all_nights JOIN latest USING (host, id))
  WHERE len(r.totals_s) > 0 AND 2 * coalesce(r.spoiled, 0) <= len(r.totals_s)),
figures AS MATERIALIZED (
  SELECT night, host, machine, hash(of_row, 'total_s') AS key, total_s AS value FROM latest_rows
  UNION ALL
  SELECT night, host, machine, hash(of_row, e.key) AS key, e.value
  FROM (SELECT night, host, machine, of_row, unnest(map_entries(phases)) AS e FROM latest_rows)
  UNION ALL
  SELECT night, host, machine, hash(c.key) AS key, c.value
  FROM (SELECT night, host, machine, unnest(map_entries(canaries)) AS c FROM latest)),
names AS (
  SELECT DISTINCT hash(of_row, 'total_s') AS key, {'row': of, 'kind': 'metric', 'name': 'total_s'} AS series
  FROM latest_rows WHERE night = getvariable('tonight')
  UNION ALL
  SELECT DISTINCT hash(of_row, phase) AS key, {'row': of, 'kind': 'phase', 'name': phase} AS series
  FROM (SELECT of_row, of, unnest(map_keys(phases)) AS phase FROM latest_rows WHERE night = getvariable('tonight'))
  UNION ALL
  SELECT DISTINCT hash(canary) AS key, {'row': canary, 'kind': 'canary', 'name': ''} AS series
  FROM (SELECT unnest(map_keys(canaries)) AS canary FROM latest WHERE night = getvariable('tonight'))),
medians AS (SELECT night, machine, key, median(value) AS middle FROM figures WHERE value > 0 GROUP BY ALL),
past AS (
  SELECT host, machine, key, median(value / middle) AS past_ratio, count(*) AS past_nights
  FROM figures JOIN medians USING (night, machine, key) WHERE value > 0 AND night < getvariable('tonight') GROUP BY ALL)
SELECT host, machine, key, series, value, middle AS median, past_ratio, coalesce(past_nights, 0) AS past_nights
FROM figures JOIN medians USING (night, machine, key) JOIN names USING (key) LEFT JOIN past USING (host, machine, key)
WHERE night = getvariable('tonight') AND value > 0;
