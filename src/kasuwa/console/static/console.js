// Optional enhancements. Every page works without this script.
"use strict";

// Downloads an export, shows its progress, and saves it as a file when it is complete.
async function exportWithProgress(link, status) {
  const response = await fetch(link.href);
  if (!response.ok) throw new Error(response.statusText);
  const reader = response.body.getReader();
  const chunks = [];
  let lines = -1;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    for (const byte of value) if (byte === 10) lines += 1;
    status.textContent = `${Math.max(lines, 0).toLocaleString()} rows so far …`;
  }
  const saved = document.createElement("a");
  saved.href = URL.createObjectURL(new Blob(chunks, { type: "text/csv" }));
  saved.download = new URL(link.href).pathname.split("/").pop();
  saved.click();
  URL.revokeObjectURL(saved.href);
  status.textContent = `${Math.max(lines, 0).toLocaleString()} rows exported.`;
}

for (const link of document.querySelectorAll("[data-export]")) {
  const status = document.querySelector("[data-export-progress]");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    status.className = "flash";
    exportWithProgress(link, status).catch(() => { window.location = link.href; });
  });
}

// Scrolls the link of the current page into view.
const currentLink = document.querySelector(".pages [aria-current]");
if (currentLink) {
  const pages = currentLink.closest(".pages");
  pages.scrollTop = currentLink.offsetTop - pages.clientHeight / 2;
}

// Makes the rows of a table cards where it is wider than its place, as those of lists are on a telephone. Each cell is
// labeled by the head of its column. A trial balance has a form of its own.
const tables = document.querySelectorAll(".scroll > table:not(.cards, .tree)");
for (const table of tables) {
  const labels = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  for (const row of [...table.rows].filter((one) => one.parentElement !== table.tHead)) {
    [...row.cells].forEach((cell, n) => {
      if (cell.tagName === "TD") cell.dataset.label = labels[n];
      if (["", "–"].includes(cell.textContent.trim())) cell.classList.add("blank");
    });
  }
}
function fitTables() {
  for (const table of tables) {
    table.classList.remove("cards");
    table.classList.toggle("cards", table.offsetWidth > table.parentElement.clientWidth);
  }
}
fitTables();
window.addEventListener("resize", fitTables);

// Reads the parts of a page that move by themselves again, until they have ended. What has the focus stays as it is.
const LIVE_SECONDS = 3;
async function refreshLiveParts() {
  if (!document.hidden) {
    const response = await fetch(window.location.href);
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(part.id);
      if (next && !part.contains(document.activeElement)) part.replaceWith(next);
    }
  }
  scheduleRefresh();
}
function scheduleRefresh() {
  if (!document.querySelector("[data-live]")) return;
  setTimeout(() => refreshLiveParts().catch(scheduleRefresh), LIVE_SECONDS * 1000);
}
scheduleRefresh();

// Disables the buttons of a submitted form, so that a double click submits it once.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", () => {
    for (const button of form.querySelectorAll("button")) setTimeout(() => { button.disabled = true; }, 0);
  });
}

// Shows what a form amounts to while it is filled in: the server works it out, as it does when the button is pressed.
const PREVIEW_PAUSE = 400;
for (const output of document.querySelectorAll("[data-preview]")) {
  const form = output.closest("form");
  let timer = 0;
  let asked = 0;
  async function showPreview() {
    const number = (asked += 1);
    const fields = new URLSearchParams(new FormData(form));
    fields.set("preview", "yes");
    const response = await fetch(form.action, { method: "POST", body: fields });
    if (!response.ok || number !== asked) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const shown = [...page.querySelectorAll("[data-preview]")].find((one) => one.textContent);
    if (shown) output.textContent = shown.textContent;
  }
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => showPreview().catch(() => {}), PREVIEW_PAUSE);
  });
}
