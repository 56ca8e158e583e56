#!/usr/bin/env python3
"""Reads and compacts a history through DuckDB; called by `run_matrix history compact`, `history query` and `fleet`."""
import argparse, datetime, fcntl, json, pathlib, re, sys

try:
    import duckdb
except ImportError:
    sys.exit("run_matrix: Python's package duckdb is missing; run ./run_matrix once without --no-install")

import history_files
from history_files import Files, warn

VIEWS = pathlib.Path(__file__).with_name("history_views.sql")


def today():
    """In UTC, as the days of nights are."""
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def open_database():
    database = duckdb.connect()
    # Nothing of a history may load extensions or files of its own choice.
    database.execute("SET autoinstall_known_extensions=false; SET memory_limit='700MB'; SET preserve_insertion_order=false")
    return database


def labels_of(database, history):
    """hosts.csv as a table of host, label, value."""
    database.execute("CREATE TABLE labels(host VARCHAR, label VARCHAR, value VARCHAR)")
    file = pathlib.Path(history) / "hosts.csv"
    if not file.exists():
        return
    try:
        database.execute("CREATE TEMP TABLE written AS SELECT * FROM read_csv(?, header=true, all_varchar=true)", [str(file)])
        names = [name for (name,) in database.execute("SELECT name FROM pragma_table_info('written')").fetchall()]
        if "host" not in names:
            raise ValueError("no column `host`")
        if len(names) > 1:
            database.execute("INSERT INTO labels SELECT host, label, value FROM "
                             "(UNPIVOT written ON COLUMNS(* EXCLUDE host) INTO NAME label VALUE value)")
    except (duckdb.Error, ValueError) as error:
        raise ValueError(f"{file}: {error}; expected a header host,LABEL,... and a line per host") from None


def open_nights(database, history, days=None):
    """The view `all_nights`: each night of these days once (all without `days`)."""
    files = Files(history)
    chosen = files.days if days is None else [day for day in files.days if day in days]
    loose = [night for day in chosen for _, night in files.single(day)]
    loose += [night for night in files.lines() if days is None or history_files.day_of(night) in days]
    history_files.load(database, loose, "loose")
    compacted = [file for day in chosen for file in files.compacted(day)]
    columns = ", ".join(history_files.NIGHT)
    source = f"SELECT {columns} FROM loose"
    if compacted:
        source += f" UNION ALL SELECT {columns} FROM {history_files.parquet(compacted)}"
    # Looking for nights that are there twice first takes little; leaving them out makes DuckDB keep whole nights in memory.
    twice = database.execute(f"SELECT count(*) > count(DISTINCT (id, host)) FROM ({source})").fetchone()[0]
    once = "QUALIFY row_number() OVER (PARTITION BY id, host) = 1" if twice else ""
    database.execute(f"CREATE VIEW all_nights AS SELECT *, coalesce(try_cast(started_at[:10] AS DATE), DATE '1970-01-01') "
                     f"AS night FROM ({source}) {once}")
    labels_of(database, history)
    database.execute("SET VARIABLE today = CAST(? AS DATE)", [today()])
    database.execute(VIEWS.read_text())


def do_compact(history, options):
    database = open_database()
    with (pathlib.Path(history) / "compact.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"{history}: another compaction is running; wait until it ends") from None
        except OSError:
            pass  # a file system without locks: two at once write a night twice, which readers take once
        days, nights = history_files.compact(database, history, today(), options.all)
    print(f"{nights} nights of {days} days put into Parquet files")


def do_nights(history, options):
    database = open_database()
    files = Files(history)
    seen = set()
    compacted = [file for day in files.days for file in files.compacted(day)]
    for night in history_files.nights_of(database, compacted, options.host) if compacted else ():
        key = night["id"], night["host"]
        if key not in seen:
            seen.add(key)
            print(json.dumps(night))


def views():
    """name -> (arguments, what it tells), of the macros in the file."""
    found = re.findall(r"^-- (.+)\nCREATE MACRO (\w+)\((.*?)\) AS TABLE$", VIEWS.read_text(), re.M)
    return {name: (arguments, text) for text, name, arguments in found}


def asked_sql(options):
    if options.sql:
        return options.sql, []
    if options.view not in views():
        raise ValueError(f"no view `{options.view}`; there are {', '.join(views())}")
    known = [word.split(":=")[0].strip() for word in views()[options.view][0].split(",") if word.strip()]
    named = []
    for word in options.arguments:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise ValueError(f"view {options.view}: `{word}`: expected NAME=VALUE with {', '.join(known) or 'no name'}")
        named.append((name, value))
    return f"FROM {options.view}({', '.join(f'{name} := ?' for name, _ in named)})", [value for _, value in named]


def do_query(history, options):
    if not options.sql and not options.view:
        for name, (arguments, text) in views().items():
            print(f"{name}({arguments})\n    {text}")
        return
    sql, values = asked_sql(options)
    database = open_database()
    open_nights(database, history)
    try:
        result = database.execute(sql, values)
    except duckdb.Error as error:
        raise ValueError(f"{options.view or 'the query'}: {error}") from None
    names = [column[0] for column in result.description]
    rows = result.fetchall()
    if options.json:
        print(json.dumps([dict(zip(names, row)) for row in rows], default=str))
        return
    text = [["" if it is None else f"{it:.6g}" if isinstance(it, float) else history_files.plain(str(it)) for it in row] for row in rows]
    widths = [max(len(line[i]) for line in [names, *text]) for i in range(len(names))]
    for line in [names, *text]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print(f"({len(rows)} rows)")


def do_fleet(history, options):
    files = Files(history)
    days = sorted({*files.days, *(history_files.day_of(night) for night in files.lines())})
    if not options.night and days and days[-1] > today():
        warn(f"{history}: night={days[-1]} lies in the future: a host's clock is wrong; `--night {days[-1]}` judges it")
    tonight = options.night or max((day for day in days if day <= today()), default=None)
    earlier = [day for day in days if tonight and day < tonight][-options.nights:]
    database = open_database()
    open_nights(database, history, {*earlier, tonight})
    answer, figures = fleet_of(database, tonight, not options.night)
    answer.update(night=tonight or "", nights=len(earlier))
    print(f'{json.dumps(answer)[:-1]}, "figures": {figures}}}')


def fleet_of(database, tonight, across_midnight):
    """Hosts and series of the night, and as JSON its figures by their numbers, as fleet_night.h names them."""
    database.execute("SET VARIABLE tonight = try_cast(? AS DATE)", [tonight])
    database.execute("CREATE TABLE latest AS SELECT night, host, machine, id, started_at, canaries FROM all_nights "
                     "QUALIFY row_number() OVER (PARTITION BY host, night ORDER BY started_at DESC, id DESC) = 1")
    if across_midnight:  # nights that began up to half a day before the last one belong to it
        database.execute("UPDATE latest SET night = getvariable('tonight') WHERE host NOT IN (SELECT host FROM latest WHERE night = "
                         "getvariable('tonight')) AND try_cast(started_at AS TIMESTAMP) > (SELECT max(try_cast(started_at AS "
                         "TIMESTAMP)) FROM latest WHERE night = getvariable('tonight')) - INTERVAL 12 HOUR")
    database.execute(pathlib.Path(__file__).with_name("fleet_figures.sql").read_text())
    hosts = database.execute(
        "SELECT host, any_value(machine), map_from_entries(list((label, value)) FILTER (label IS NOT NULL)) FROM latest "
        "LEFT JOIN labels USING (host) WHERE night = getvariable('tonight') GROUP BY host ORDER BY host").fetchall()
    missing = database.execute("SELECT DISTINCT host FROM latest WHERE host NOT IN (SELECT host FROM latest WHERE night = "
                               "getvariable('tonight')) ORDER BY host").fetchall()
    database.execute("CREATE TABLE series AS SELECT (row_number() OVER (ORDER BY machine, series, key)) - 1 AS number, machine, "
                     "series, key, any_value(median) AS median FROM judged GROUP BY machine, series, key")
    series = database.execute("SELECT series, machine, median FROM series ORDER BY number").fetchall()
    database.execute("CREATE TABLE hosts AS SELECT host, (row_number() OVER (ORDER BY host)) - 1 AS number "
                     "FROM (SELECT DISTINCT host FROM latest WHERE night = getvariable('tonight'))")
    figures = database.execute(  # as text: they are some hundred thousand
        "SELECT to_json(coalesce(list(json_array(hosts.number, of.number, value, coalesce(past_ratio, 0), past_nights)), [])) "
        "FROM judged JOIN hosts USING (host) JOIN series AS of USING (machine, key)").fetchone()[0]
    plain = history_files.plain
    return dict(hosts=[dict(host=plain(host), hardware=plain(machine),
                            labels={plain(label): plain(value) for label, value in (labels or {}).items() if value is not None})
                       for host, machine, labels in hosts],
                missing=[plain(host) for (host,) in missing],
                series=[dict(row=it["row"], kind=it["kind"], name=it["name"], hardware=plain(machine), median=median)
                        for it, machine, median in series]), figures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("compact")
    command.add_argument("history")
    command.add_argument("--all", action="store_true", help="today's nights, too")
    command = commands.add_parser("nights")
    command.add_argument("history")
    command.add_argument("--host")
    command = commands.add_parser("query")
    command.add_argument("history")
    command.add_argument("view", nargs="?")
    command.add_argument("arguments", nargs="*", metavar="NAME=VALUE")
    command.add_argument("--sql")
    command.add_argument("--json", action="store_true")
    command = commands.add_parser("fleet")
    command.add_argument("history")
    command.add_argument("--night")
    command.add_argument("--nights", type=int, required=True)
    options = parser.parse_args()
    try:
        {"compact": do_compact, "nights": do_nights, "query": do_query, "fleet": do_fleet}[options.command](
            options.history, options)
    except (ValueError, OSError, duckdb.Error) as error:
        warn(str(error).strip())
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
