import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { checked, command } from './command.ts';

const USAGE = `Usage: npm run rename -- --service NAME --resource NAME [--plural NAME]

Renames the service and its resource in all files of this clone: package, stack, contract, operation, table, token
prefix, sample events, tests and documents. For example --service "order desk" --resource order makes a service with
POST /orders. --plural is by default the resource with an "s". It works once, and needs a clone without
uncommitted changes: "git reset --hard && git clean -fd" undoes it.`;

const OPTIONS = {
  service: { type: 'string', default: '' },
  resource: { type: 'string', default: '' },
  plural: { type: 'string' },
} as const;

/** The names of this service, in lower case. */
const SERVICE = 'plant store';
const RESOURCE = 'plant';
const PLURAL = 'plants';

/**
 * Returns the spellings of a name, always in this order: `order desk`, `order-desk`, `order_desk`, `orderdesk`,
 * `Order Desk`, `OrderDesk`, `orderDesk`, `ORDER_DESK`.
 */
function spellings(name: string): string[] {
  const words = name.split(' ');
  const capitalized = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const [first = ''] = words;
  const camelCase = first + capitalized.slice(1).join('');
  return [
    ...[' ', '-', '_', ''].map((separator) => words.join(separator)),
    ...[' ', ''].map((separator) => capitalized.join(separator)),
    camelCase,
    words.join('_').toUpperCase(),
  ];
}

/** Returns a function that replaces all spellings of names in a text. `names` are pairs of an old and a new name. */
function renamer(names: [from: string, to: string][]) {
  const replacements = new Map(
    names.flatMap(([from, to]) => {
      const after = spellings(to);
      return spellings(from).map((spelling, index): [string, string] => [spelling, after[index] ?? '']);
    }),
  );
  const pattern = new RegExp(`(\\b[Aa] )?(${[...replacements.keys()].join('|')})`, 'g');
  return (text: string) =>
    text.replaceAll(pattern, (_, article: string | undefined, name: string) => {
      const renamed = replacements.get(name) ?? name;
      const an = article && /^[aeiou]/i.test(renamed) ? `${article.trim()}n ` : article;
      return `${an ?? ''}${renamed}`;
    });
}

await command({ usage: USAGE, options: OPTIONS }, async ({ service, resource, plural = `${resource}s` }) => {
  checked('--service', service, /^[a-z][a-z0-9]*( [a-z0-9]+)*$/, 'words in lower case, such as "order desk"');
  checked('--resource', resource, /^[a-z][a-z0-9]*$/, 'a noun in lower case, such as order');
  checked('--plural', plural, /^[a-z][a-z0-9]*$/, 'a noun in lower case, such as orders');
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' });
  if (git('status', '--porcelain') !== '') throw new Error('The clone has uncommitted changes; commit them first.');
  const renameService = renamer([[SERVICE, service]]);
  const renameAll = renamer([
    [SERVICE, service],
    [PLURAL, plural],
    [RESOURCE, resource],
  ]);
  for (const file of git('ls-files', '-z').split('\0').slice(0, -1)) {
    const content = readFileSync(file);
    // A lock file has names of packages, which stay.
    const rename = file.endsWith('package-lock.json') ? renameService : renameAll;
    if (!content.includes(0)) writeFileSync(file, rename(content.toString()));
    const renamed = renameAll(file);
    mkdirSync(dirname(renamed), { recursive: true });
    renameSync(file, renamed);
  }
  (await import('./generate/generate.ts')).writeGenerated();
  // Other lengths of names need other line breaks.
  execFileSync('npx', ['biome', 'check', '--write', '--log-level=error'], { stdio: 'inherit' });
  console.log(`Renamed to "${service}" with ${plural}. Run npm test, then commit.`);
});
