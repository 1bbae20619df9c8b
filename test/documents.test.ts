import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(path, 'utf8');
const documents = globSync(['*.md', 'docs/*.md', '.github/*.yml', '.github/workflows/*.yml', '.ci/run']);
const captures = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, capture = '']) => capture);

/** The documents with the matches of a pattern's capture group. Fails if there are none. */
function inDocuments(pattern: RegExp) {
  const matches = (document: string) =>
    captures(read(document), pattern).map((capture) => [document, capture] as const);
  const found = documents.flatMap(matches);
  expect(found).not.toEqual([]);
  return found;
}

/** The anchors that GitHub generates for a document's headings. */
function anchors(markdown: string): string[] {
  const headings = captures(markdown.replaceAll(/```.*?```/gs, '').toLowerCase(), /^#+ (.+)$/gm);
  return headings.map((heading) => heading.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

test('each relative link leads to an existing file and heading', () => {
  const dead = inDocuments(/\]\((?!https?:)([^)\s]+)\)/g).filter(([document, link]) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document : join(dirname(document), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchors(read(target)).includes(anchor);
  });
  expect(dead).toEqual([]);
});

test('no block that a person pastes has a comment, whose words zsh would pass to the command', () => {
  const blocks = inDocuments(/^ *```sh\n(.*?)^ *```$/gms);
  expect(blocks.filter(([, block]) => /(^|\s)#/m.test(block))).toEqual([]);
});

test('each npx cdk of docs/ and CONTRIBUTING.md names its stage, because without it the CDK uses dev', () => {
  // A command ends with its code span, with its block, or before the next command.
  const commands = inDocuments(/npx cdk ([a-z](?:(?!npx cdk|&&|`).)*)/gs);
  const withoutStage = commands.filter(([, command]) => !/\s-c\s+stage=/.test(command));
  expect(withoutStage.filter(([document]) => /^docs|CONTRIBUTING/.test(document))).toEqual([]);
  expect(withoutStage).toContainEqual(['README.md', 'deploy\n']);
});

test('the newest version in CHANGELOG.md is that of the contract', () => {
  const [newest] = captures(read('CHANGELOG.md'), /^## (\S+)/gm);
  expect(captures(read('openapi.yaml'), /^ {2}version: (.+)$/gm)).toEqual([newest]);
});
