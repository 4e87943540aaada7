// Optional enhancements: samples as tabs, a menu that is closed on narrow screens, and the search.
"use strict";

// --- samples: one language at a time, the same on all pages ---

const LANGUAGE = "kasuwa-docs-language";

function storedLanguage() {
  try { return localStorage.getItem(LANGUAGE); } catch { return null; }
}

function showLanguage(language) {
  for (const group of document.querySelectorAll("[data-samples]")) {
    const tabs = [...group.querySelectorAll("[role=tab]")];
    const chosen = tabs.find((tab) => tab.textContent === language) ?? tabs[0];
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
  }
}

function chooseLanguage(language) {
  try { localStorage.setItem(LANGUAGE, language); } catch { /* The choice lasts until the page is left. */ }
  showLanguage(language);
}

for (const [number, group] of document.querySelectorAll("[data-samples]").entries()) {
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  for (const [place, panel] of group.querySelectorAll(".sample").entries()) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = panel.querySelector(".language").textContent;
    tab.id = `tab-${number}-${place}`;
    panel.id = `sample-${number}-${place}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.querySelector(".language").remove();
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => chooseLanguage(tab.textContent));
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...list.children];
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    chooseLanguage(next.textContent);
  });
  group.prepend(list);
}
showLanguage(storedLanguage());

// --- copying ---

for (const block of document.querySelectorAll(".sample pre")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.before(button);
}

// --- menu ---

const menu = document.querySelector("[data-menu]");
const wide = matchMedia("(min-width: 60rem)");
function fitMenu() { menu.open = wide.matches; }
fitMenu();
wide.addEventListener("change", fitMenu);
const current = menu.querySelector("[aria-current]");
if (current && wide.matches) current.scrollIntoView({ block: "nearest" });

// --- search ---

const MOST_RESULTS = 30;

function scoreOf([page, heading, , text], words) {
  const [inPage, inHeading, inText] = [page, heading, text].map((part) => part.toLowerCase());
  let score = 0;
  for (const word of words) {
    const found = (inHeading.includes(word) ? 6 : 0) + (inPage.includes(word) ? 4 : 0) + (inText.includes(word) ? 1 : 0);
    if (!found) return 0;
    score += found + (inHeading === word || inPage.split(" ").includes(word) ? 4 : 0);
  }
  return score;
}

function excerptOf(text, words) {
  const wanted = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
  const at = wanted ? text.indexOf(" ", wanted) + 1 : 0; // begins with a whole word
  return `${at ? "… " : ""}${text.slice(at, at + 180)}${text.length > at + 180 ? " …" : ""}`;
}

function findSections(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  return window.searchIndex
    .map((entry) => ({ entry, score: scoreOf(entry, words), words }))
    .filter(({ score }) => score)
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST_RESULTS);
}

function showResults(query) {
  const list = document.getElementById("search-results");
  const found = findSections(query);
  list.replaceChildren(...found.map(({ entry: [page, heading, address, text], words }) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = list.dataset.root + address;
    link.textContent = heading ? `${page}: ${heading}` : page;
    const excerpt = document.createElement("p");
    excerpt.textContent = excerptOf(text, words);
    item.append(link, excerpt);
    return item;
  }));
  const counted = found.length === MOST_RESULTS ? `The best ${MOST_RESULTS} results` : `${found.length} results`;
  document.getElementById("search-status").textContent = query.trim() ? `${counted} for “${query.trim()}”` : "Type in the search field above.";
}

if (document.getElementById("search-results")) {
  addEventListener("DOMContentLoaded", () => {
    const field = document.getElementById("search-field");
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    field.addEventListener("input", () => showResults(field.value));
    showResults(field.value);
  });
}
