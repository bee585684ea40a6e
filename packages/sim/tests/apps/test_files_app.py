from __future__ import annotations

from tests.apps.owner import Owner, story

PACKAGE = "com.google.android.documentsui"


def start(owner: Owner) -> None:
    owner.phone.files.write("/sdcard/Download/tickets.pdf", b"tickets")
    owner.phone.files.write("/sdcard/Download/.hidden", b"x")
    owner.open(PACKAGE)


@story("files")
def test_folders_come_first_and_hidden_files_not_at_all(owner: Owner) -> None:
    owner.phone.files.write("/sdcard/aaa.txt", b"x")
    start(owner)
    words = owner.words()
    assert words.index("Alarms") < words.index("Download")
    assert "aaa.txt" not in words[: words.index("Download")]
    owner.tap("Download")
    assert owner.sees("tickets.pdf")
    assert not owner.sees(".hidden")


@story("files")
def test_a_file_is_moved_to_another_folder(owner: Owner) -> None:
    start(owner)
    owner.tap("Download")
    owner.hold("tickets.pdf")
    owner.tap("More options")
    owner.tap("Move to…")
    owner.back()
    owner.tap("Documents")
    owner.tap("Move")
    files = owner.phone.files
    assert files.read("/sdcard/Documents/tickets.pdf") == b"tickets"
    assert not files.exists("/sdcard/Download/tickets.pdf")


@story("files")
def test_a_copy_beside_the_original_gets_a_number(owner: Owner) -> None:
    start(owner)
    owner.tap("Download")
    owner.hold("tickets.pdf")
    owner.tap("More options")
    owner.tap("Copy to…")
    owner.tap("Copy")
    assert owner.phone.files.read("/sdcard/Download/tickets (1).pdf") == b"tickets"


@story("files")
def test_deleting_asks_first(owner: Owner) -> None:
    start(owner)
    owner.tap("Download")
    owner.hold("tickets.pdf")
    owner.tap("Delete")
    owner.tap("Cancel")
    assert owner.phone.files.exists("/sdcard/Download/tickets.pdf")
    owner.tap("Delete")
    owner.tap("OK")
    assert not owner.phone.files.exists("/sdcard/Download/tickets.pdf")


@story("files")
def test_a_folder_is_made_and_renamed(owner: Owner) -> None:
    start(owner)
    owner.tap("Download")
    owner.tap("New folder")
    owner.type("Trips", "text1")
    owner.tap("OK")
    owner.hold("Trips")
    owner.tap("More options")
    owner.tap("Rename")
    owner.type(" 2024", "text1")
    owner.tap("OK")
    assert owner.phone.files.is_dir("/sdcard/Download/Trips 2024")
    assert not owner.phone.files.exists("/sdcard/Download/Trips")


@story("files")
def test_a_text_is_shown_and_back_leads_to_its_folder(owner: Owner) -> None:
    owner.phone.files.write("/sdcard/Download/list.txt", b"Oats\nPears")
    start(owner)
    owner.tap("Download")
    owner.tap("list.txt")
    assert owner.sees("Oats\nPears")
    owner.back()
    assert owner.sees("tickets.pdf")


@story("files")
def test_what_nothing_can_show_is_not_opened(owner: Owner) -> None:
    start(owner)
    owner.tap("Download")
    owner.tap("tickets.pdf")
    assert owner.sees("tickets.pdf")
    assert not owner.sees("tickets")
