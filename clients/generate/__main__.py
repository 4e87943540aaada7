"""Writes the generated files of all client libraries: `python -m clients.generate`."""

from clients.generate import python


def main() -> None:
    texts = python.render_all()
    for path, text in texts.items():
        path.write_text(text)
    print(f"{len(texts)} files written")


if __name__ == "__main__":
    main()
