/**
 * Exact numbers. Amounts and rates are strings in requests and in replies: a JavaScript number cannot hold every
 * amount, and sums of numbers drift. Requests with a number are refused before they are sent; the few replies that
 * have an amount as a JSON number are converted.
 */

/** An amount of money in major units, such as `"1500.00"`. Never a number. */
export type Amount = string;

/** Another exact number: a rate or a percentage, such as `"12.5"`. */
export type Decimal = string;

/** The exact fields of an object, and the objects inside it that have some. Arrays are looked through. */
export interface Shape {
  readonly amounts?: readonly string[];
  readonly decimals?: readonly string[];
  readonly inside?: { readonly [field: string]: Shape };
}

type Fields = Record<string, unknown>;

/** Throws a TypeError that names every amount or rate of a request that is not a string. */
export function checkExact(request: unknown, shape: Shape | undefined): void {
  if (shape === undefined) {
    return;
  }
  const faults: string[] = [];
  visit(request, shape, "", (value, path, isAmount) => {
    if (typeof value !== "string" && value !== undefined && value !== null) {
      const wanted = isAmount ? 'an amount as a string such as "1500.00"' : 'a rate as a string such as "12.5"';
      faults.push(`${path}: pass ${wanted}, not a ${typeof value}`);
    }
    return value;
  });
  if (faults.length > 0) {
    throw new TypeError(faults.join("; "));
  }
}

/** Converts the amounts and rates of a reply that are JSON numbers to strings, in place. */
export function convertExact(reply: unknown, shape: Shape | undefined): void {
  if (shape !== undefined) {
    visit(reply, shape, "", (value, _path, isAmount) =>
      typeof value === "number" ? (isAmount ? value.toFixed(2) : String(value)) : value,
    );
  }
}

type Replace = (value: unknown, path: string, isAmount: boolean) => unknown;

function visit(value: unknown, shape: Shape, path: string, replace: Replace): void {
  if (Array.isArray(value)) {
    value.forEach((item: unknown, index) => visit(item, shape, `${path}[${index}]`, replace));
    return;
  }
  if (typeof value !== "object" || value === null) {
    return;
  }
  const fields = value as Fields;
  const prefix = path === "" ? "" : `${path}.`;
  for (const name of shape.amounts ?? []) {
    visitExact(fields, name, prefix + name, true, replace);
  }
  for (const name of shape.decimals ?? []) {
    visitExact(fields, name, prefix + name, false, replace);
  }
  for (const [name, inner] of Object.entries(shape.inside ?? {})) {
    visit(fields[name], inner, prefix + name, replace);
  }
}

/** Visits an exact field, or every value of it if it is a list or a map of exact values. */
function visitExact(fields: Fields, name: string, path: string, isAmount: boolean, replace: Replace): void {
  const value = fields[name];
  if (typeof value === "object" && value !== null) {
    const values = value as Fields;
    for (const key of Object.keys(values)) {
      assign(values, key, replace(values[key], `${path}.${key}`, isAmount));
    }
  } else {
    assign(fields, name, replace(value, path, isAmount));
  }
}

/** Sets a field if its value differs. The objects of a request belong to the caller, and may be frozen. */
function assign(fields: Fields, name: string, value: unknown): void {
  if (fields[name] !== value) {
    fields[name] = value;
  }
}
