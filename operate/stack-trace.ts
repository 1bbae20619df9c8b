import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { command } from './command.ts';

/*
 * npm run stack-trace < LOG: puts the source's file, line and column in place of each position in the
 * bundle (index.mjs:LINE:COLUMN), by the map that `cdk synth` leaves beside the bundle.
 */

await command(async () => {
  const file = resolve(process.argv[2] ?? 'cdk.out/create-plant.mjs.map');
  if (!existsSync(file)) throw new Error(`There is no ${file}; npx cdk synth makes it.`);
  const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  const traced = (await text(process.stdin)).replaceAll(
    /(?:file:\/\/)?[^\s()"]*index\.mjs:(\d+):(\d+)/g,
    (position, line, column) => {
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!('originalSource' in entry)) return position;
      // The map was made one folder deeper in the assembly.
      const source = relative(process.cwd(), resolve(file, '../asset', entry.originalSource));
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    },
  );
  process.stdout.write(traced);
});
