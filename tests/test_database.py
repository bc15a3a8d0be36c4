"""The library's own SQLite files: foreign ones stay untouched, damage is a sentence, a full disk loses nothing."""

import os
import sqlite3
import stat
import subprocess
import sys

import numpy as np
import pytest

import tallymark as tm
from tallymark import _database
from tallymark._database import checksum
from tallymark.monitor import history
from tallymark.study import stores
from tallymark.study.units import Outcome

ROWS = [
    {"period": f"2024-{month:02}", "rows": 40, "reference": month < 3, "mean_score": 0.25, "signal": "", "advice": ""}
    for month in range(1, 9)
]


def write_study(path):
    with stores.writing(path) as store:
        for number in range(12):
            shares = np.array([[0.3, 0.7], [0.5, 0.5]])
            store.add(
                "d", number, "m", Outcome(f"k{number}", shares[:, 1], shares, np.array([10, 12]), shares, None, 0.5)
            )


def read_study(path):
    with stores.reading(path) as store:
        store.status()
        return [
            (c.key, c.nominal.tolist(), c.drawn.tolist(), c.sizes.tolist(), c.estimates.tolist()) for c in store.cells()
        ]


def write_history(path):
    history.remember(path, ROWS)


def read_history(path):
    return history.remember(path, [])


STORES = {"study": (write_study, read_study, stores._KIND), "watch": (write_history, read_history, history._KIND)}
both = pytest.mark.parametrize("kind", STORES)


@both
def test_a_foreign_database_is_refused_unchanged(kind, tmp_path):
    write, read, _ = STORES[kind]
    for mode in ("delete", "wal"):
        path = tmp_path / f"{mode}.db"
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
        connection.close()
        before = {one.name: one.read_bytes() for one in tmp_path.iterdir() if not one.name.endswith(".lock")}
        for use in (write, read):
            with pytest.raises(tm.InputError, match="something else"):
                use(path)
        assert {one.name: one.read_bytes() for one in tmp_path.iterdir() if not one.name.endswith(".lock")} == before


@both
def test_each_kind_refuses_the_other(kind, tmp_path):
    other = next(name for name in STORES if name != kind)
    STORES[other][0](tmp_path / "x.db")
    for use in STORES[kind][:2]:
        with pytest.raises(tm.InputError, match="something else"):
            use(tmp_path / "x.db")


@both
@pytest.mark.parametrize("name", ["file:hist?mode=memory", "file:x.db", ":memory:", ""])
def test_names_that_sqlite_does_not_read_as_files_are_refused(kind, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tm.InputError, match="URI|expected the path"):
        STORES[kind][0](name)
    assert not list(tmp_path.iterdir())


@both
@pytest.mark.parametrize("name", ["a?mode=memory", "b#c.db", "d%20e.db", "sub/file:x?mode=memory"])
def test_odd_names_are_files(kind, name, tmp_path):
    write, read, _ = STORES[kind]
    (tmp_path / "sub").mkdir()
    write(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0
    assert read(tmp_path / name)


@both
def test_devices_and_impossible_places_are_refused_at_once(kind, tmp_path):
    write, read, _ = STORES[kind]
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "none" / "x.db", tmp_path / "a\0b", tmp_path / ("n" * 300)):
        for use in (write, read):
            with pytest.raises(tm.InputError):
                use(path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@both
def test_every_flipped_bit_is_noticed_or_changes_nothing(kind, tmp_path):
    """Of pages with rows every bit is tried for one byte in some; what is read is what was written, or a sentence."""
    write, read, _ = STORES[kind]
    path = tmp_path / "x.db"
    write(path)
    wanted = read(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 41):
        broken = bytearray(whole)
        broken[place] ^= 1 << (place % 8)
        path.write_bytes(broken)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        try:
            seen = read(path)
        except tm.InputError:
            refused += 1
        else:
            # A broken key can hide a row, which is then worked on again; what is shown is never another number.
            assert all(row in wanted for row in seen)
    assert refused > 20


@both
def test_every_truncation_is_a_sentence_or_loses_nothing(kind, tmp_path):
    write, read, _ = STORES[kind]
    path = tmp_path / "x.db"
    write(path)
    wanted = read(path)
    whole = path.read_bytes()
    for size in (1, 15, 16, 40, 99, 100, 511, 4095, 4096, 5000, len(whole) - 4096, len(whole) - 1):
        path.write_bytes(whole[:size])
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        try:
            # The last bytes of a page may be unused.
            assert read(path) == wanted
            assert size == len(whole) - 1
        except tm.InputError as error:
            assert str(path) in str(error)


EDITS = {
    "study": [
        "UPDATE cells SET estimates = x'00'", "UPDATE cells SET classes = 0", "UPDATE cells SET classes = 'x'", "UPDATE cells SET sizes = x'0011'",
        "UPDATE cells SET nominal = 'text'", "UPDATE cells SET drawn = zeroblob(32)", "UPDATE cells SET method = CAST(x'ff' AS TEXT)",
        "UPDATE cells SET fold = 'x'", "UPDATE cells SET checksum = 5", "DROP TABLE cells", "ALTER TABLE cells DROP COLUMN seconds",
        "PRAGMA user_version = 99", "PRAGMA user_version = 1", "PRAGMA user_version = -1", "UPDATE cells SET error = 'x'",
    ],
    "watch": [
        "UPDATE periods SET found = '{'", "UPDATE periods SET found = '{}'", "UPDATE periods SET found = '5'", "UPDATE periods SET found = x'ff'",
        "UPDATE periods SET found = CAST(x'ff' AS TEXT)", "UPDATE periods SET checksum = 5", "DROP TABLE periods", "PRAGMA user_version = 99",
        "UPDATE periods SET found = replace(found, '0.25', '0.75')",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "edit"), [(kind, edit) for kind, edits in EDITS.items() for edit in edits])
def test_edits_are_sentences(kind, edit, tmp_path):
    write, read, _ = STORES[kind]
    write(tmp_path / "x.db")
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    connection.execute(edit)
    connection.close()
    with pytest.raises(tm.InputError, match=r"x\.db"):
        read(tmp_path / "x.db")


@pytest.mark.parametrize(
    "found",
    ["{}", "5", "[]", '"x"', "{", '{"period": 1, "rows": "x", "reference": true, "mean_score": 0.5}', "[" * 9999],
)
def test_a_row_that_no_watch_writes_is_a_sentence_even_with_its_checksum(found, tmp_path):
    write_history(tmp_path / "x.db")
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    connection.execute("INSERT INTO periods VALUES ('p', ?, ?)", (found, checksum("p", found)))
    connection.close()
    with pytest.raises(tm.InputError, match="the period 'p'"):
        read_history(tmp_path / "x.db")


def test_a_cell_that_no_study_writes_is_a_sentence_even_with_its_checksum(tmp_path):
    two = np.full(2, 0.5).tobytes()
    for place, row in enumerate(
        [
            ("k", "d", 0, "m", None, 0, two, two, two, two, 0.0),
            ("k", "d", 0, "m", None, 2, two, two, b"", two, 0.0),
            ("k", "d", 0, "m", None, 2, two, np.full(4, 7.0).tobytes(), two, None, 0.0),
            ("k", "d", 0, "m", None, 2, b"x", two, two, two, 0.0),
        ]
    ):
        path = tmp_path / f"{place}.db"
        write_study(path)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"INSERT INTO cells VALUES ({', '.join('?' * 12)})", (*row, checksum(*row)))
        connection.close()
        with pytest.raises(tm.InputError, match="the cell of the data set 'd', fold 0, method 'm'"):
            read_study(path)


@both
def test_a_disk_that_is_full_while_the_store_is_made_leaves_one_that_can_be_used(kind, tmp_path, monkeypatch):
    write, read, facts = STORES[kind]
    whole = _database.transaction
    for most in range(1, 5):
        path = tmp_path / f"{most}.db"

        def limited(connection, most=most):
            connection.execute(f"PRAGMA max_page_count = {most}")
            return whole(connection)

        monkeypatch.setattr(_database, "transaction", limited)
        try:
            write(path)
        except tm.InputError as error:
            assert "No room left" in str(error)
        monkeypatch.setattr(_database, "transaction", whole)
        write(path)
        assert read(path)
    assert len(facts.tables) >= 1


def test_a_history_without_checksums_is_given_them(tmp_path):
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA application_id = {history._KIND.application}")
        connection.execute("CREATE TABLE periods (period TEXT PRIMARY KEY, found TEXT NOT NULL) WITHOUT ROWID")
        connection.execute(
            'INSERT INTO periods VALUES (\'2023-01\', \'{"period": "2023-01", "rows": 4, "reference": true, "mean_score": 0.5}\')'
        )
    connection.close()
    write_history(path)
    assert [row["period"] for row in read_history(path)] == ["2023-01", *(row["period"] for row in ROWS)]


def test_a_file_of_the_users_that_is_called_like_the_lock_is_kept(tmp_path):
    (tmp_path / "x.db.lock").write_text("mine")
    with pytest.raises(tm.InputError, match=r"x\.db\.lock.* is not a lock"):
        write_study(tmp_path / "x.db")
    assert (tmp_path / "x.db.lock").read_text() == "mine"


def test_values_cannot_change_places_under_one_checksum():
    rows = [("a", "bc"), ("ab", "c"), ("a", b"bc"), ("a", None), ("a", "None"), (1, 2), (12,), ("1", "2"), (1.0, 2)]
    assert len({checksum(*row) for row in rows}) == len(rows)


def test_two_processes_make_one_history(tmp_path):
    script = "import sys; from tallymark.monitor.history import remember; remember(sys.argv[1], [{'period': sys.argv[2], 'rows': 1, 'reference': False, 'mean_score': 0.5}])"
    path = tmp_path / "x.db"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(n)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for n in range(2)
    ]
    assert [run.wait() for run in runs] == [0, 0]
    assert len(read_history(path)) == 2
