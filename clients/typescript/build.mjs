// Builds dist/esm and dist/cjs from src with the TypeScript compiler. `node build.mjs FOLDER` writes to FOLDER instead.
//
// The sources are type-checked and compiled to ESM with declarations. The CommonJS files are made from the same sources
// module by module, which needs no second check (isolatedModules), and have the same declarations.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const here = dirname(fileURLToPath(import.meta.url));
const output = resolve(process.argv[2] ?? join(here, "dist"));
const folders = { esm: join(output, "esm"), cjs: join(output, "cjs") };
const config = ts.getParsedCommandLineOfConfigFile(
  join(here, "tsconfig.json"),
  { outDir: folders.esm },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => fail([problem]) },
);

function fail(problems) {
  const host = { getCurrentDirectory: () => here, getCanonicalFileName: (name) => name, getNewLine: () => "\n" };
  console.error(ts.formatDiagnostics(problems, host));
  process.exit(1);
}

rmSync(output, { recursive: true, force: true });
const program = ts.createProgram(config.fileNames, config.options);
const { diagnostics } = program.emit();
const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
if (problems.length > 0) {
  fail(problems);
}

const options = { ...config.options, module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10 };
const sources = readdirSync(join(here, "src"), { recursive: true }).map(String);
for (const name of sources.filter((name) => name.endsWith(".ts"))) {
  const compiled = ts.transpileModule(readFileSync(join(here, "src", name), "utf8"), { compilerOptions: options });
  const target = join(folders.cjs, name.replace(/\.ts$/, ".js"));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, compiled.outputText);
  const declarations = name.replace(/\.ts$/, ".d.ts");
  copyFileSync(join(folders.esm, declarations), join(folders.cjs, declarations));
}
writeFileSync(join(folders.esm, "package.json"), '{ "type": "module" }\n');
writeFileSync(join(folders.cjs, "package.json"), '{ "type": "commonjs" }\n');
