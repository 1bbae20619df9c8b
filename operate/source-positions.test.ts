import { SourceMap } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WrongArguments } from './command.ts';
import { inSources } from './source-positions.ts';

/** From a column of a line of the bundle on, both counted from 0, it is made of this place of a source, or of none. */
interface Segment {
  line: number;
  column: number;
  origin?: { source: string; line: number; column: number };
}

/** A source map of such segments, which are in their order, each at a place of its own (ECMA-426, "Mappings"). */
function mapOf(segments: Segment[]): SourceMap {
  const sources = [...new Set(segments.flatMap(({ origin }) => origin?.source ?? []))];
  let before = [0, 0, 0];
  const lines = Array.from({ length: Math.max(0, ...segments.map(({ line }) => line)) + 1 }, (_, index) => {
    let columnBefore = 0;
    const ofLine = segments.filter(({ line }) => line === index);
    return ofLine.map(({ column, origin }) => {
      const fields = [column - columnBefore];
      columnBefore = column;
      if (origin) {
        const place = [sources.indexOf(origin.source), origin.line, origin.column];
        fields.push(...place.map((field, at) => field - (before[at] ?? 0)));
        before = place;
      }
      return fields.map(vlq).join('');
    });
  });
  const mappings = lines.map((line) => `${line.join(',')};`).join('');
  return new SourceMap({ version: 3, file: '', names: [], sources, sourcesContent: [], mappings, sourceRoot: '' });
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** A number in base64 VLQ: the sign in the lowest bit, then five bits a digit, the sixth where more follow. */
function vlq(number: number): string {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let digits = '';
  do {
    digits += BASE64[(rest & 31) | (rest > 31 ? 32 : 0)];
    rest >>>= 5;
  } while (rest > 0);
  return digits;
}

/** A map by which each position from 1:1 on is made of the first of an operation's `index.ts`. */
function onlyIndexOf(folder: string): [string, SourceMap] {
  const source = `../../functions/${folder}/index.ts`;
  return [folder, mapOf([{ line: 0, column: 0, origin: { source, line: 0, column: 0 } }])];
}

const small = fc.integer({ min: 0, max: 40 });
const origin = fc.record({
  source: fc.constantFrom('../../functions/create-plant/index.ts', '../../node_modules/a/b.js', '../../../c.ts'),
  line: fc.integer({ min: 0, max: 3000 }),
  column: fc.integer({ min: 0, max: 3000 }),
});
const segments = fc
  .uniqueArray(
    fc.record({ line: fc.integer({ min: 0, max: 12 }), column: small, origin }, { requiredKeys: ['line', 'column'] }),
    {
      selector: ({ line, column }) => `${line}:${column}`,
      maxLength: 30,
    },
  )
  .map((all) => all.toSorted((a, b) => a.line - b.line || a.column - b.column));

test('a position in the bundle becomes the one that its map names; one that the map has not stays as it is', () => {
  const PATHS: Record<string, string> = {
    '../../functions/create-plant/index.ts': 'functions/create-plant/index.ts',
    '../../node_modules/a/b.js': 'node_modules/a/b.js',
    '../../../c.ts': '../c.ts',
  };
  const [line, column] = [fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 45 })];
  const before = fc.constantFrom('', 'file:///var/task/', '/var/task/', './', 'file://');
  const around = fc.constantFrom(['', ''], ['    at handler (', ')'], ['{"stack":"', '\\n"}'], ['at ', '\r\n at x']);
  fc.assert(
    fc.property(segments, line, column, before, around, (all, line, column, path, [left, right]) => {
      const place = all.findLast((segment) => segment.line === line - 1 && segment.column <= column - 1)?.origin;
      const position = `${path}index.mjs:${line}:${column}`;
      const expected = place ? `${PATHS[place.source]}:${place.line + 1}:${place.column + 1}` : position;
      const maps = new Map([['create-plant', mapOf(all)]]);
      expect(inSources(left + position + right, maps, 'create-plant')).toBe(left + expected + right);
    }),
    { numRuns: 1000 },
  );
});

test('what holds no position passes unchanged, and needs no map', () => {
  const almost = [
    'index.mjs',
    'index.mjs:1',
    'index.mjs:1:',
    'index.mjs:a:1',
    'index.mjs:1:x',
    'index.mjs::1',
    'index.js:1:1',
  ];
  const operation = '"operation":"createPlant"';
  const piece = fc.oneof(fc.string(), fc.constantFrom(...almost, operation, '\n', '\r', '\u2028', '🌱\ud800', ' '));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const log = pieces.join(' ');
      expect(inSources(log, new Map(), undefined)).toBe(log);
    }),
  );
});

test('each line is traced by the map of the operation that it names, the others by that of the argument', () => {
  const folders: Record<string, string> = {
    createPlant: 'create-plant',
    getPlant: 'get-plant',
    listAllPlants: 'list-all-plants',
  };
  const noise = fc
    .string({ unit: fc.constantFrom(...'ab"{}\\:,.\u2028\u2029\r\u0085é ') })
    .map((text) => text.replaceAll('\n', ''));
  const line = fc.record({
    operation: fc.option(fc.constantFrom(...Object.keys(folders))),
    space: fc.constantFrom('', ' ', '  '),
    noise: fc.tuple(noise, noise, noise),
    positions: fc.integer({ min: 0, max: 3 }),
  });
  const maps = new Map(Object.values(folders).map(onlyIndexOf));
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom(...Object.values(folders)), (lines, folderOfOthers) => {
      const [log, expected] = ['at file:///var/task/index.mjs:1:1', undefined].map((position) =>
        lines
          .map(({ operation, space, noise: [first, second, third], positions }) => {
            const folder = operation === null ? folderOfOthers : folders[operation];
            const traced = `${position ?? `at functions/${folder}/index.ts:1:1`} ${second}`.repeat(positions);
            return `${first}${operation === null ? '' : `"operation":${space}"${operation}"`}${third} ${traced}`;
          })
          .join('\n'),
      );
      expect(inSources(log ?? '', maps, folderOfOthers)).toBe(expected);
    }),
  );
});

test('a position in identity-provider.mjs, beside the bundle, is traced by the map of that file, whatever the line names', () => {
  const source = '../../functions/shared/identity-provider.mts';
  const beside = mapOf([{ line: 0, column: 0, origin: { source, line: 0, column: 0 } }]);
  const maps = new Map([onlyIndexOf('create-plant'), ['identity-provider', beside] as const]);
  const traced = (log: string) => inSources(log, maps, undefined);
  expect(traced('at file:///var/task/identity-provider.mjs:1:1')).toBe('at functions/shared/identity-provider.mts:1:1');
  expect(traced('"operation":"createPlant" identity-provider.mjs:1:1 index.mjs:1:1')).toBe(
    '"operation":"createPlant" functions/shared/identity-provider.mts:1:1 functions/create-plant/index.ts:1:1',
  );
  expect(() => traced('at index.mjs:1:1')).toThrow('name its FOLDER: create-plant.');
});

test('where nothing names the operation, or it has no map, a sentence tells so', () => {
  const maps = new Map([onlyIndexOf('create-plant'), onlyIndexOf('get-plant')]);
  const nothingNames = () => inSources('{"stack":"at index.mjs:1:1"}', maps, undefined);
  expect(nothingNames).toThrow(WrongArguments);
  expect(nothingNames).toThrow(
    'Nothing tells which operation index.mjs:1:1 is of; name its FOLDER: create-plant or get-plant.',
  );
  expect(() => inSources('{"operation":"dropPlant","stack":"at index.mjs:1:1"}', maps, 'get-plant')).toThrow(
    'There is no cdk.out/drop-plant.mjs.map; npx cdk synth makes it at the commit and with the context that were deployed.',
  );
});
