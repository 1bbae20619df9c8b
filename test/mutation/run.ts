import { globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { command, WrongArguments } from '../../operate/command.ts';
import { allLines, changedLines, type Lines } from './changed-lines.ts';
import { EQUIVALENTS } from './equivalents.ts';
import { PARTS, type Part } from './parts.ts';

/*
 * npm run test:mutation -- [--part NAME ...] [--file FILE ...] [--since COMMIT]: makes one small change to the code
 * after the other, and counts those that no test notices.
 */

const MAX_MINUTES = 10;
const UNNOTICED = ['Survived', 'NoCoverage'];
/** `RuntimeError` is that of a test file which does not even load: nobody overlooks it. */
const TESTED = ['Killed', 'Timeout', 'RuntimeError', ...UNNOTICED];

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const names = PARTS.map(({ name }) => name);

const usage = `Usage: npm run test:mutation -- [--part NAME ...] [--file FILE ...] [--since COMMIT]

Mutates all parts, or those named, or only such files of them. On two cores they take:
${PARTS.map(({ name, minutes, sources }) => `  ${name.padEnd(10)}${String(minutes).padStart(3)} min  ${sources}`).join('\n')}

--since mutates only the lines that are changed since a commit, and all of a file whose test is changed. Where that
would take more than ${MAX_MINUTES} minutes, it mutates a sample.`;

const options = {
  part: { type: 'string', multiple: true },
  file: { type: 'string', multiple: true },
  since: { type: 'string' },
} as const;

await command({ usage, options }, async ({ part: chosen = names, file: patterns = ['**'], since }) => {
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new WrongArguments(`--part was "${unknown}"; it must be ${names.join(' or ')}.`);
  const files = globSync(patterns);
  const changed = since === undefined ? undefined : changedLines(since);
  const work = PARTS.filter(({ name }) => chosen.includes(name)).map((part) => {
    const whole = sourcesOf(part).map(allLines);
    const places = (changed ?? whole).filter(({ file }) => sourcesOf(part).includes(file) && files.includes(file));
    return { part, places, minutes: (part.minutes * linesIn(places)) / linesIn(whole) };
  });
  const minutes = work.reduce((sum, { minutes }) => sum + minutes, 0);
  if (minutes === 0) {
    if (!changed) throw new WrongArguments(`--file was "${patterns.join(' ')}"; it must be a source of such a part.`);
    return console.log(`Nothing that is mutated has changed since ${since}.`);
  }
  const every = changed ? Math.max(1, Math.ceil(minutes / MAX_MINUTES)) : 1;
  if (every > 1)
    console.log(`All that is changed would take ${minutes.toFixed(0)} min: one place in ${every} is mutated.`);
  for (const { part, places } of work) {
    const sample = places.filter((_, index) => index % every === 0);
    if (sample.length === 0) continue;
    const start = performance.now();
    const mutants = await mutate(part, sample);
    judge(part, mutants, (performance.now() - start) / 60_000, !changed);
  }
});

function sourcesOf({ sources }: Part): string[] {
  return globSync(sources).filter((file) => !/\.(test|d|generated)\.ts$/.test(file));
}

function linesIn(places: Lines[]): number {
  return places.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** Runs the tests of a part once for each mutant of such lines. */
async function mutate(part: Part, places: Lines[]): Promise<Mutant[]> {
  process.env['MUTATION_PART'] = part.name;
  process.env['MUTATION_COVERAGE'] = part.coverage;
  process.env['MUTATION_TESTS'] = JSON.stringify(part.tests);
  return new Stryker({
    mutate: places.map(({ file, first, last }) => `${file}:${first}-${last}`),
    testRunner: 'vitest',
    // Processes, since autocannon and CDK's bundling do not work in a thread.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false, pool: 'forks' },
    coverageAnalysis: part.coverage,
    plugins: ['@stryker-mutator/*', './test/mutation/words.ts'],
    // What the function answers to callers is tested to the word.
    ignorers: part.name === 'functions' ? [] : ['words'],
    ignorePatterns: ['cdk.out', '.local', 'bench/node_modules', 'test/runtime/node_modules'],
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    allowConsoleColors: process.stdout.isTTY,
    tempDirName: '.local/stryker',
    // Stryker reads it with the JavaScript API that TypeScript 7 does not have; there is nothing in it to rewrite.
    tsconfigFile: 'none',
    // No types are checked, and a generated file has to stay as it was made.
    disableTypeChecks: false,
    concurrency: 2,
  }).runMutationTest();
}

/** Tells which mutants no test noticed. Exit status 1 where they are too many, or one listed as equivalent is noticed. */
function judge({ name, least }: Part, mutants: Mutant[], minutes: number, whole: boolean): void {
  const tested = mutants.filter(({ status }) => TESTED.includes(status));
  const unnoticed = tested.filter(({ status }) => UNNOTICED.includes(status)).map(described);
  const files = new Set(mutants.map(({ fileName }) => relative('.', fileName)));
  // Each sets aside one mutant, so that the same change elsewhere in its file is not taken for it.
  const listed = [...files].flatMap((file) => (EQUIVALENTS[file] ?? []).map((each) => ({ file, ...each })));
  const survived = unnoticed.filter(({ file, code, becomes }) => {
    const known = listed.findIndex((each) => each.file === file && each.code === code && each.becomes === becomes);
    if (known >= 0) listed.splice(known, 1);
    return known < 0;
  });
  for (const { file, line, code, becomes } of survived) console.log(`${file}:${line}: ${code} -> ${becomes}`);
  const equivalent = unnoticed.length - survived.length;
  const noticed = tested.length - unnoticed.length;
  const counted = tested.length - equivalent;
  const percent = counted === 0 ? 100 : (100 * noticed) / counted;
  console.log(
    `${name}: ${noticed} of ${counted} mutants noticed, ${percent.toFixed(1)} % where ${least} % must be, ` +
      `and ${equivalent} equivalent ones not counted; ${minutes.toFixed(1)} min.`,
  );
  // Of the few mutants of a small change, one may survive.
  if (survived.length > 1 && percent < least) process.exitCode = 1;
  if (!whole) return;
  for (const { file, code, becomes } of listed) {
    console.log(`${file}: ${code} -> ${becomes} is listed as equivalent, but is noticed or gone.`);
    process.exitCode = 1;
  }
}

/** Where a mutant is and what it changes, the code on one line. */
function described({ fileName, location: { start, end }, replacement }: Mutant) {
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  const after = (lines.at(-1)?.length ?? 0) - (end.column - 1);
  const code = lines.join('\n');
  return {
    file: relative('.', fileName),
    line: start.line,
    code: onOneLine(code.slice(start.column - 1, code.length - after)),
    becomes: onOneLine(replacement),
  };
}

function onOneLine(code: string): string {
  return code.replaceAll(/\s+/g, ' ');
}
