// The search. A word is found in its other forms, by its synonyms, and with one wrong letter if no page has it.
"use strict";

const MOST_RESULTS = 30;
const EXCERPT = 180;
const WORD = /[\p{L}\p{N}_]+/gu;
const IGNORED = new Set("a an and are can do does for from get how i in is it me my of on or the to what when which why with".split(" "));
// What a match counts for: in the heading, the name of the page, the text; and of the word itself, a synonym, a likely word.
const [IN_HEADING, IN_PAGE, IN_TEXT] = [6, 4, 1];
const [ITSELF, SYNONYM, LIKELY] = [1, 0.7, 0.5];
// Commands and settings are many, and mostly not what a merchant's developer looks for.
const TOOLS = "tools/";
const OF_TOOLS = 0.6;
const SHORTEST_BEGINNING = 3;
const SHORTEST_CORRECTED = 4;

const stems = new Map();

function makeStem(word) {
  let stem = word;
  if (stem.length > 3) stem = stem.replace(/(?<=..)ie[sd]$/, "y").replace(/(?<=ss|sh|ch|x)es$/, "").replace(/(?<=..[^su])s$/, "");
  if (stem.length > 4) {
    const shorter = stem.replace(/(?<=[aeiouy].*[^e])(ed|ing)$/, "");
    stem = shorter === stem ? stem : shorter.replace(/([^aeiouls])\1$/, "$1");
  }
  return stem.length > 3 ? stem.replace(/e$/, "").replace(/y$/, "i") : stem;
}

function stemOf(word) {
  if (!stems.has(word)) stems.set(word, makeStem(word));
  return stems.get(word);
}

function wordsIn(text) {
  return text.toLowerCase().match(WORD) ?? [];
}

function stemsIn(text) {
  return new Set(wordsIn(text).map(stemOf));
}

const sections = window.searchIndex.map(([page, heading, address, text]) => ({
  page, heading, address, text,
  fields: [[stemsIn(heading), IN_HEADING], [stemsIn(page), IN_PAGE], [stemsIn(text), IN_TEXT]],
}));
const vocabulary = new Set(sections.flatMap(({ fields }) => fields.flatMap(([stemsOfField]) => [...stemsOfField])));
const synonyms = window.searchSynonyms.map((group) => group.map(stemOf));

// Whether two words are equal but for one letter that is missing, added or another, or two that are exchanged.
function areClose(one, other) {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
}

function isKnown(stem) {
  return vocabulary.has(stem) || (stem.length >= SHORTEST_BEGINNING && [...vocabulary].some((word) => word.startsWith(stem)));
}

// The words that a word of the query stands for, each with its weight.
function meaningsOf(word) {
  const stem = stemOf(word);
  const same = synonyms.filter((group) => group.includes(stem)).flat().filter((other) => other !== stem);
  const meanings = [[stem, ITSELF], ...same.map((other) => [other, SYNONYM])];
  if (isKnown(stem) || same.length || stem.length < SHORTEST_CORRECTED) return meanings;
  const likely = [...vocabulary].filter((other) => areClose(stem, other));
  const meant = synonyms.filter((group) => group.some((other) => areClose(stem, other))).flat();
  return [...meanings, ...[...likely, ...meant].map((other) => [other, LIKELY])];
}

function scoreField(stemsOfField, stem) {
  if (stemsOfField.has(stem)) return 2;
  return stem.length >= SHORTEST_BEGINNING && [...stemsOfField].some((word) => word.startsWith(stem)) ? 1 : 0;
}

function scoreWord(section, meanings) {
  const scores = meanings.map(([stem, weight]) =>
    weight * section.fields.reduce((sum, [stemsOfField, worth]) => sum + worth * scoreField(stemsOfField, stem), 0));
  return Math.max(...scores);
}

function findSections(query) {
  const all = wordsIn(query);
  const meant = all.filter((word) => !IGNORED.has(word));
  const words = (meant.length ? meant : all).map(meaningsOf);
  if (!words.length) return { results: [], isPartial: false };
  const phrase = (meant.length ? meant : all).join(" ");
  const scored = sections.map((section) => {
    const scores = words.map((meanings) => scoreWord(section, meanings));
    const isPhrase = words.length > 1 && `${section.heading} ${section.text}`.toLowerCase().includes(phrase);
    const sum = scores.reduce((one, other) => one + other, 0) + (isPhrase ? IN_HEADING : 0);
    const weight = section.address.startsWith(TOOLS) ? OF_TOOLS : 1;
    return { section, matched: scores.filter(Boolean).length, sum: sum * weight };
  });
  const most = Math.max(...scored.map(({ matched }) => matched));
  const results = scored
    .filter(({ matched }) => matched && matched === most)
    .sort((one, other) => other.sum - one.sum)
    .slice(0, MOST_RESULTS)
    .map(({ section }) => section);
  return { results, isPartial: most < words.length, stems: words.flat().map(([stem]) => stem) };
}

function excerptOf(text, wanted) {
  const first = [...text.matchAll(WORD)].find(([word]) => wanted.some((stem) => stemOf(word.toLowerCase()).startsWith(stem)));
  const place = Math.max(0, (first?.index ?? 0) - 60);
  const at = place ? text.indexOf(" ", place) + 1 : 0; // begins with a whole word
  return `${at ? "… " : ""}${text.slice(at, at + EXCERPT)}${text.length > at + EXCERPT ? " …" : ""}`;
}

function describeResults(query, { results, isPartial }) {
  if (!query.trim()) return "Type in the search field above.";
  const counted = results.length === MOST_RESULTS ? `The best ${MOST_RESULTS} results` : `${results.length} results`;
  const partial = isPartial && results.length ? ". No page has all of the words; these have most of them" : "";
  return `${counted} for “${query.trim()}”${partial}`;
}

function showResults(query) {
  const list = document.getElementById("search-results");
  const found = findSections(query);
  list.replaceChildren(...found.results.map(({ page, heading, address, text }) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = list.dataset.root + address;
    link.textContent = heading ? `${page}: ${heading}` : page;
    const excerpt = document.createElement("p");
    excerpt.textContent = excerptOf(text, found.stems);
    item.append(link, excerpt);
    return item;
  }));
  document.getElementById("search-status").textContent = describeResults(query, found);
}

const field = document.getElementById("search-field");
field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", () => showResults(field.value));
showResults(field.value);
