"""Writes the generated files of the clients, and their calls for the documentation: `python -m clients.generate`."""

from clients.generate import calls, php, python, typescript


def main() -> None:
    texts = {**python.render_all(), **typescript.render_all(), **php.render_all(), **calls.render_all()}
    for stale in {*typescript.FOLDER.glob("*.ts"), *php.written_files()} - set(texts):
        stale.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"{len(texts)} files written")


if __name__ == "__main__":
    main()
