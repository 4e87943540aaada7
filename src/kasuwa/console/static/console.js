// What helps and is not needed: without it every page works the same, with less comfort.
"use strict";

// An export says how far it is while it comes, and lands as a file when it is whole.
async function exportWithProgress(link, place) {
  const response = await fetch(link.href);
  if (!response.ok) throw new Error(response.statusText);
  const reader = response.body.getReader();
  const parts = [];
  let lines = -1;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    for (const byte of value) if (byte === 10) lines += 1;
    place.textContent = `${Math.max(lines, 0).toLocaleString()} rows so far …`;
  }
  const saved = document.createElement("a");
  saved.href = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
  saved.download = "transactions.csv";
  saved.click();
  URL.revokeObjectURL(saved.href);
  place.textContent = `${Math.max(lines, 0).toLocaleString()} rows exported.`;
}

for (const link of document.querySelectorAll("[data-export]")) {
  const place = document.querySelector("[data-export-progress]");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    place.className = "told";
    exportWithProgress(link, place).catch(() => { window.location = link.href; });
  });
}

// The page that is open is to be seen in a row of links that scrolls.
const here = document.querySelector(".bar [aria-current]");
if (here) here.scrollIntoView({ block: "nearest", inline: "center" });

// Pressed twice in a hurry is meant once.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", () => {
    for (const button of form.querySelectorAll("button")) setTimeout(() => { button.disabled = true; }, 0);
  });
}
