import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../local/synthesize.ts';

/** Writes a text between `<!-- NAME -->` and `<!-- /NAME -->` of a document. Throws where it has no such place. */
export function writeSection(document: string, name: string, text: string): void {
  const file = join(projectRoot, document);
  const before = readFileSync(file, 'utf8');
  const section = new RegExp(`(?<=<!-- ${name} -->\n).*(?=\n<!-- /${name} -->)`, 's');
  if (!section.test(before)) throw new Error(`${document} has no <!-- ${name} --> section to write into.`);
  writeFileSync(
    file,
    before.replace(section, () => text),
  );
}
