"""The walls: what stands where, what is locked, and what the front door says."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCKS = [ROOT / "requirements" / "base.txt", ROOT / "requirements" / "dev.txt"]


def tracked(*patterns: str) -> list[Path]:
    """The files of the repository (or all files, where this is no checkout)."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def pins_of(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ \\]+)", lock.read_text(), re.MULTILINE))


# --- the layout -------------------------------------------------------------------------------


def test_no_other_python_package_stands_at_the_top() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == {"emma_eval", "scripts_catalog", "results", "tests"}


def test_the_package_of_the_house_is_empty_so_that_its_core_can_be_imported_alone() -> None:
    assert (ROOT / "emma_eval" / "__init__.py").read_text() == ""


def test_no_lock_of_a_row_waits_for_who_only_refers_to_it() -> None:
    """The trail's line names its actor: FOR UPDATE would let two who change each other wait for each other forever."""
    sources = {path: path.read_text() for path in tracked("emma_eval/*.py", "scripts_catalog/*.py", "results/*.py")}
    locks = {path.name: re.findall(r"select_for_update\(([^)]*)", text) for path, text in sources.items()}
    assert [name for name, found in locks.items() if any("no_key=True" not in each for each in found)] == []
    assert sum(map(len, locks.values())) > 10


def test_no_import_contract_has_an_exception() -> None:
    assert "ignore_imports" not in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("name", ["services.py", "utils.py", "helpers.py", "signals.py"])
def test_no_module_is_a_drawer_for_everything(name: str) -> None:
    assert [path for path in tracked("*.py") if path.name == name] == []


# --- what is locked ---------------------------------------------------------------------------


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_is_locked_with_its_hashes_and_no_registry_is_named(lock: Path) -> None:
    text = lock.read_text()
    entries = re.split(r"^(?=[a-z0-9._-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins_of(lock)) > 20
    assert [entry.partition(" ")[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert not re.search(r"://|--index|--find-links|--extra|@ ", text)


def test_what_the_tests_add_changes_nothing_that_the_site_runs_on() -> None:
    base, dev = map(pins_of, LOCKS)
    assert base.items() <= dev.items()


def test_vendored_scripts_are_the_ones_their_list_names() -> None:
    vendor = ROOT / "static" / "vendor"
    listed = dict(
        re.findall(r"^\| (\S+\.js) \|.*\| ([0-9a-f]{64}) \|$", (vendor / "README.md").read_text(), re.MULTILINE)
    )
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendor.glob("*.js")} == listed


# --- what is written --------------------------------------------------------------------------


def test_every_link_between_documents_leads_somewhere() -> None:
    lost = []
    for page in tracked("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                lost.append(f"{page.relative_to(ROOT)}: {target}")
    assert lost == []


def test_every_file_that_a_document_names_is_there() -> None:
    """Named by its whole path; what moves to another room is renamed in the documents, too."""
    path = re.compile(r"`((?:emma_eval|scripts_catalog|results|tests|static|templates|docs)/[\w./-]+)`")
    named = [(page, name) for page in tracked("*.md") for name in path.findall(page.read_text())]
    assert [f"{page.relative_to(ROOT)}: {name}" for page, name in named if not (ROOT / name).exists()] == []
    assert len(named) > 100


def test_the_newcomer_needs_exactly_two_commands() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert [line.split("#")[0].strip() for block in blocks for line in block.splitlines()] == [
        "./emma up",
        "./emma test",
    ]


def test_nothing_depends_on_a_folder_outside_or_on_one_machine() -> None:
    outside = re.compile(r"\.\./shared|/work/|/root/|/home/\w+/")
    found = [
        str(path.relative_to(ROOT))
        for path in tracked("*.py", "*.sh", "*.md", "*.toml", "*.yaml", "*.html", "*.js", "*.css", "emma", ".ci/*")
        if path != Path(__file__) and outside.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


# --- the front door ---------------------------------------------------------------------------


def emma(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "emma", *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_every_posix_shell_reads_the_script(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    assert subprocess.run([shell, "-n", ROOT / "emma"], check=False).returncode == 0


def test_its_help_names_every_act() -> None:
    acts = re.search(r"^    ([a-z |]+)\) \"\$act\"", (ROOT / "emma").read_text(), re.MULTILINE)
    assert acts is not None
    said = emma("help").stdout
    for act in ["test", *acts.group(1).split(" | ")]:
        assert f"./emma {act}" in said


def test_without_a_word_it_helps() -> None:
    assert emma().stdout == emma("help").stdout == emma("--help").stdout


def test_an_act_it_does_not_know_is_told_in_one_sentence() -> None:
    told = emma("dance")
    assert told.returncode == 1
    assert told.stderr == "emma: there is no './emma dance'; ./emma help says what there is.\n"


@pytest.mark.parametrize("port", ["many", "0", "70000", "-1"])
def test_a_port_that_is_none_is_told_in_one_sentence(port: str, tmp_path: Path) -> None:
    told = emma("up", EMMA_PORT=port, EMMA_VAR=str(tmp_path))
    assert told.returncode == 1
    assert told.stderr.splitlines()[-1] == f"emma: EMMA_PORT is '{port}': set it to a number such as 8001."
