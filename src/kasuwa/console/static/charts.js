// Shows the values of a bar below its chart, when it is pointed at or reached by the arrow keys.
"use strict";

for (const chart of document.querySelectorAll("svg.bars")) {
  const bars = [...chart.querySelectorAll("g.bar")];
  const values = chart.closest(".bar-chart").nextElementSibling;
  const show = (bar) => {
    values.textContent = bar.getAttribute("aria-label");
    for (const other of bars) other.classList.toggle("chosen", other === bar);
  };
  for (const bar of bars) {
    // The label says what the tooltip would say again.
    bar.querySelector("title").remove();
    bar.addEventListener("pointerenter", () => show(bar));
    bar.addEventListener("focus", () => show(bar));
  }
  chart.addEventListener("keydown", (event) => {
    const at = bars.indexOf(document.activeElement);
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 };
    const next = bars[places[event.key]];
    if (at < 0 || !next) return;
    event.preventDefault();
    bars[at].setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}
