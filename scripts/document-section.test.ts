import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { projectRoot } from '../local/synthesize.ts';
import { writeSection } from './document-section.ts';

/** A document with such a text, as writeSection names it. */
function documentOf(text: string): { document: string; read: () => string } {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-document-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'a.md');
  writeFileSync(file, text);
  return { document: relative(projectRoot, file), read: () => readFileSync(file, 'utf8') };
}

test('a text takes the place of what stands in its section, and of nothing else', () => {
  const other = '<!-- bench -->\nold\n<!-- /bench -->';
  const { document, read } = documentOf(
    `before\n<!-- cost -->\nold\n\nolder\n<!-- /cost -->\nbetween\n${other}\nafter\n`,
  );
  // What looks like a pattern of replace() stays as it is.
  writeSection(document, 'cost', '| $& | $1 |\n| a | b |');
  expect(read()).toBe(`before\n<!-- cost -->\n| $& | $1 |\n| a | b |\n<!-- /cost -->\nbetween\n${other}\nafter\n`);
});

test.each(['', '<!-- cost -->\nold\n', '<!-- bench -->\nold\n<!-- /bench -->\n'])(
  'a document without the section is refused and stays as it is: %j',
  (text) => {
    const { document, read } = documentOf(text);
    expect(() => writeSection(document, 'cost', 'new')).toThrow(
      `${document} has no <!-- cost --> section to write into.`,
    );
    expect(read()).toBe(text);
  },
);
