"""Who may ask the local page, and for what: forged addresses, other pages, other files, too much, too many, a kill."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import psutil
import pytest

from local_page import serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("office")
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    frame = pd.DataFrame({"y": y.astype(int), "p": 1 / (1 + np.exp(-rng.normal(2 * y - 1)))})
    frame.to_csv(made / "a.csv", index=False)
    frame.to_csv(made / "<img src=x onerror=alert(1)>.csv", index=False)
    big = pd.concat([frame] * 3_000)
    big.to_csv(made / "big.csv", index=False)
    outside = tmp_path_factory.mktemp("outside") / "secret.csv"
    frame.to_csv(outside, index=False)
    (made / "link.csv").symlink_to(outside)
    (made / "linked").symlink_to(outside.parent)
    return made


@pytest.fixture(scope="module")
def page(folder):
    with serving(folder, "--limit", "5") as client:
        yield client


GOOD = {"question": "good", "files": ["folder/a.csv"], "choices": {"label": "y", "scores": ["p"]}}


def wait(page, run, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        _, now = page.ask(f"run/{run}")
        if now["state"] not in {"waiting", "running"}:
            return now
        time.sleep(0.1)
    raise AssertionError(now)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_addresses_and_other_pages_are_refused(page, headers):
    for method, path in (
        ("GET", ""),
        ("GET", "files"),
        ("POST", "look"),
        ("POST", "run"),
        ("POST", "upload?name=a.csv"),
    ):
        status, _, content = page.send(method, path, b"{}" if method == "POST" else None, headers)
        assert status in {400, 403}
        assert b"secret" not in content


@pytest.mark.parametrize("token", ["", "x", "a" * 32, "..", "%00"])
def test_without_the_token_there_is_nothing(page, token):
    for path in ("", "files", "page/page.js"):
        assert page.send("GET", path, base=f"/{token}/" if token else "/")[0] in {403, 404}
    assert page.send("GET", "")[0] == 200


@pytest.mark.parametrize(
    "name",
    [
        "folder/../../etc/passwd", "folder//etc/passwd", "folder/link.csv", "folder/linked/secret.csv", "dropped/../../x", "/etc/passwd",
        "folder/a.csv\0", "folder/", "", "dropped/", None, 3, ["folder/a.csv"], "folder/" + "../" * 30 + "etc/hostname", "runs/x",
    ],
)  # fmt: skip
def test_files_outside_of_the_folder_are_refused(page, name):
    for path, question in (("look", {"file": name}), ("run", GOOD | {"files": [name]})):
        status, answer = page.ask(path, question)
        assert status == 400
        assert "no file" in answer["error"]


def test_links_are_not_listed(page):
    names = {one["name"] for one in page.ask("files")[1]["files"]}
    assert "a.csv" in names
    assert not {"link.csv", "secret.csv"} & names


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"x"', b"\xff", b"{" * 10_000, b" " * 100_000])
def test_questions_that_are_none_are_refused(page, body):
    for path in ("look", "run"):
        status, _, content = page.send("POST", path, body)
        assert status == 400
        assert "error" in json.loads(content)


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(page):
    status, _, content = page.send("POST", "upload?name=big.csv", b"x", {"Content-Length": str(5 * 2**30)})
    assert status == 413
    assert "folder" in json.loads(content)["error"]


def test_a_file_that_turns_out_too_large_is_not_kept(page):
    def parts():
        for _ in range(20):
            yield b"x" * 2**20

    # The connection may be closed before the answer is read.
    with contextlib.suppress(ConnectionError):
        status, _, content = page.send("POST", "upload?name=big.csv", parts(), {"Transfer-Encoding": "chunked"})
        assert status == 400
        assert "larger than 5 MB" in json.loads(content)["error"]
    assert not any(
        one["id"].startswith("dropped") and one["bytes"] > 5 * 2**20 for one in page.ask("files")[1]["files"]
    )


@pytest.mark.parametrize("name", ["../../up.csv", "/etc/x.csv", "a\\b.csv", "x" * 300 + ".csv", "%00.csv"])
def test_names_of_dropped_files_stay_inside(page, name):
    content = b"y,p\n1,0.9\n0,0.1\n"
    status, _, answer = page.send("POST", f"upload?name={name}", content)
    assert status == 200
    kept = json.loads(answer)
    assert "/" not in kept["name"]
    assert page.ask("look", {"file": kept["id"]})[0] == 200


def test_files_that_cannot_be_read_are_refused(page):
    assert page.send("POST", "upload?name=a.exe", b"MZ")[0] == 400
    assert page.send("POST", "upload?name=", b"MZ")[0] == 400


def test_answers_may_not_be_framed_guessed_or_kept(page):
    _, headers, _ = page.send("GET", "")
    lower = {name.lower(): value for name, value in headers.items()}
    assert "frame-ancestors 'none'" in lower["content-security-policy"]
    assert lower["x-content-type-options"] == "nosniff"
    assert lower["cache-control"] == "no-store"
    assert lower["referrer-policy"] == "no-referrer"
    run = page.ask("run", GOOD)[1]["run"]
    assert wait(page, run)["state"] == "done"
    _, headers, content = page.send("GET", f"run/{run}/report.html")
    policy = {name.lower(): value for name, value in headers.items()}["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert b"<html" in content
    assert page.send("GET", f"run/{run}/progress")[0] == 400
    assert page.send("GET", f"run/{run}/..%2f..%2fdropped")[0] in {400, 404}


def test_fifty_questions_at_once_are_answered_or_wait(page):
    with ThreadPoolExecutor(50) as pool:
        looks = list(pool.map(lambda _: page.ask("files")[0], range(50)))
        runs = [
            answer["run"] for status, answer in pool.map(lambda _: page.ask("run", GOOD), range(50)) if status == 200
        ]
    assert set(looks) == {200}
    assert len(runs) == 50
    for run in runs[3:]:
        page.ask(f"run/{run}/cancel", {})
    assert {wait(page, run)["state"] for run in runs[:3]} == {"done"}
    assert {wait(page, run)["state"] for run in runs[3:]} <= {"cancelled", "done"}


def children(page):
    found = []
    for one in psutil.Process(page.process.pid).children(recursive=True):
        # It may have ended since.
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [one] if "tallymark" in " ".join(one.cmdline()) else []
    return found


def started(page, question):
    run = page.ask("run", question)[1]["run"]
    end = time.monotonic() + 30
    while not children(page) and time.monotonic() < end:
        time.sleep(0.02)
    return run


def test_a_killed_run_costs_that_run_only(page):
    run = started(page, GOOD | {"files": ["folder/big.csv"]})
    os.kill(children(page)[0].pid, signal.SIGKILL)
    now = wait(page, run)
    assert now["state"] == "failed"
    assert "ended by the system" in now["said"]
    assert wait(page, page.ask("run", GOOD)[1]["run"])["state"] == "done"


def test_a_cancelled_run_ends_its_process(page):
    run = started(page, GOOD | {"files": ["folder/big.csv"]})
    page.ask(f"run/{run}/cancel", {})
    assert wait(page, run)["state"] == "cancelled"
    end = time.monotonic() + 10
    while children(page) and time.monotonic() < end:
        time.sleep(0.05)
    assert not children(page)


def test_a_refusal_is_a_sentence(page):
    run = page.ask("run", GOOD | {"choices": {"label": "nothing", "scores": ["p"]}})[1]["run"]
    now = wait(page, run)
    assert now["state"] == "failed"
    assert "No column 'nothing'" in now["said"]
    assert "Traceback" not in now["said"]


def test_a_long_run_is_given_up(folder):
    with serving(folder, "--minutes", "0.05") as page:
        run = started(
            page, GOOD | {"files": ["folder/big.csv"], "choices": {"label": "y", "scores": ["p"], "cluster": "p"}}
        )
        now = wait(page, run)
        assert now["state"] == "failed"
        assert "longer than 0.05 minutes" in now["said"]


def test_nothing_is_left_behind(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(folder) as page:
        assert page.send("POST", "upload?name=a.csv", b"y,p\n1,0.9\n0,0.1\n")[0] == 200
        started(page, GOOD | {"files": ["folder/big.csv"]})
        working = children(page)
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())
    assert not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in working)
    assert {path.name for path in folder.iterdir() if path.suffix in {".html", ".xlsx"}} == set()


@pytest.mark.parametrize("mark", ["\0", "\ud800", "[" * 20_000])
def test_what_no_command_can_be_given_is_refused(page, mark):
    for path, question in [
        ("look", {"file": f"folder/{mark}.csv"}),
        ("look", {"file": "folder/a.csv", "encoding": f"a{mark}b"}),
        ("run", {**GOOD, "choices": {"label": f"a{mark}b", "scores": ["p"]}}),
        ("run", {**GOOD, "decimal": mark}),
    ]:
        status, answer = page.ask(path, question)
        assert status == 400 or wait(page, answer["run"])["state"] == "failed"
    status, _, content = page.send("POST", "run", b"[" * 60_000)
    assert status == 400, content


def test_names_that_turn_the_text_around_and_long_ones_are_kept_plainly(page):
    for name in ("%E2%80%AEvsc.exe.csv", "%F0%9F%98%80" * 100 + ".csv"):
        status, _, content = page.send("POST", f"upload?name={name}", b"y,p\n1,0.9\n")
        assert status == 200, content
        kept = json.loads(content)["name"]
        assert "\u202e" not in kept
        assert len(kept.encode()) <= 200


def test_looks_wait_for_each_other(page):
    with ThreadPoolExecutor(12) as many:
        asked = [many.submit(page.ask, "look", {"file": "folder/a.csv"}) for _ in range(12)]
        most = 0
        while not all(one.done() for one in asked):
            most = max(most, len(children(page)))
            time.sleep(0.05)
    assert {one.result()[0] for one in asked} == {200}
    assert most <= 2 * max(1, os.cpu_count() // 2)


def test_dropped_files_have_a_limit_together(folder):
    with serving(folder, "--limit", "1") as page:
        body = b"y,p\n" + b"1,0.5\n" * 160_000
        answers = [page.send("POST", "upload?name=a.csv", body)[0] for _ in range(12)]
    assert answers[:9] == [200] * 9
    assert answers[-1] == 400


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminal closes here")
def test_a_closed_terminal_ends_the_page_and_its_files(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(folder) as page:
        page.send("POST", "upload?name=a.csv", b"y,p\n1,0.9\n0,0.1\n")
        page.process.send_signal(signal.SIGHUP)
        page.process.wait(20)
    assert not list(tmp_path.iterdir())


def test_modules_in_the_folder_are_not_imported(tmp_path):
    pd.DataFrame({"y": [0, 1] * 50, "p": np.linspace(0, 1, 100)}).to_csv(tmp_path / "a.csv", index=False)
    for name in ("numpy", "duckdb", "json", "tallymark"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    with serving(tmp_path) as page:
        status, _ = page.ask("look", {"file": "folder/a.csv"})
        assert status == 200
        _, started = page.ask("run", GOOD)
        assert wait(page, started["run"])["state"] == "done"
    assert not (tmp_path / "executed").exists()


def test_wrong_calls_are_refused():
    for arguments, message in ((["nowhere"], "no folder"), ([".", "--host", "0.0.0.0"], "one address")):
        done = subprocess.run(
            [sys.executable, "-m", "tallymark", "serve", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert message in done.stderr
