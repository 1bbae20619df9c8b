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
const TESTED = ['Killed', 'Timeout', ...UNNOTICED];

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
  if (minutes === 0) console.log('There is nothing to mutate.');
  const every = changed ? Math.max(1, Math.ceil(minutes / MAX_MINUTES)) : 1;
  if (every > 1)
    console.log(`All that is changed would take ${minutes.toFixed(0)} min: one place in ${every} is mutated.`);
  for (const { part, places } of work) {
    const sample = places.filter((_, index) => index % every === 0);
    if (sample.length > 0) await mutate(part, sample);
  }
});

function sourcesOf({ sources }: Part): string[] {
  return globSync(sources).filter((file) => !/\.(test|d|generated)\.ts$/.test(file));
}

function linesIn(places: Lines[]): number {
  return places.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** Mutates lines of a part and tells which mutants no test notices. Exit status 1 where they are too many. */
async function mutate(part: Part, places: Lines[]): Promise<void> {
  const start = performance.now();
  process.env['MUTATION_PART'] = part.name;
  process.env['MUTATION_TESTS'] = JSON.stringify(part.tests);
  const mutants = await new Stryker({
    mutate: places.map(({ file, first, last }) => `${file}:${first}-${last}`),
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
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
    concurrency: 2,
  }).runMutationTest();

  const tested = mutants.filter(({ status }) => TESTED.includes(status));
  const unnoticed = tested.filter(({ status }) => UNNOTICED.includes(status)).map(describe);
  const isEquivalent = ({ file, code, becomes }: Described) =>
    EQUIVALENTS[file]?.some((known) => known.code === code && known.becomes === becomes);
  const survived = unnoticed.filter((mutant) => !isEquivalent(mutant));
  for (const { file, line, code, becomes } of survived) console.log(`${file}:${line}: ${code} -> ${becomes}`);
  const counted = tested.length - (unnoticed.length - survived.length);
  const percent = (100 * (counted - survived.length)) / counted;
  const minutes = (performance.now() - start) / 60_000;
  console.log(
    `${part.name}: ${percent.toFixed(1)} % of ${counted} mutants noticed, at least ${part.least} % must be; ` +
      `${tested.length - counted} equivalent ones set aside; ${minutes.toFixed(1)} min.`,
  );
  // Of a few lines' mutants one may survive.
  if (survived.length > 1 && percent < part.least) process.exitCode = 1;
}

interface Described {
  file: string;
  line: number;
  code: string;
  becomes: string;
}

/** What a mutant changes, the code on one line. */
function describe({ fileName, location: { start, end }, replacement }: Mutant): Described {
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
