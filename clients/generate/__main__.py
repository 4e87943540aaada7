"""Writes the generated files of the clients, and their calls for the documentation: `python -m clients.generate`."""

from clients.generate import calls, python, typescript


def main() -> None:
    texts = {**python.render_all(), **typescript.render_all(), **calls.render_all()}
    for stale in set(typescript.FOLDER.glob("*.ts")) - set(texts):
        stale.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"{len(texts)} files written")


if __name__ == "__main__":
    main()
