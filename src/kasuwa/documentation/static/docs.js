// Optional enhancements: samples as tabs, and a menu that is closed on narrow screens.
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
