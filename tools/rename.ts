import { execFileSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { checked, command, UsageError } from './command.ts';
import { projectRoot } from './project-root.ts';

const USAGE = `Usage: npm run rename -- --service NAME --resource NAME [--plural NAME]

Makes a service of your own from this template. Renames the service and its resource in all files: package, stack,
contract, operation, table, token prefix, sample events, tests and documents. For example --service "Order Desk"
--resource order makes a service with POST /orders. --plural is by default the resource with an "s": set it for
"categories". Also replaces the sample values, makes the README that of a service, and removes this command.

It needs a folder without uncommitted changes: "git reset --hard && git clean -fd" undoes it. In a folder without .git,
it cannot be undone.`;

const OPTIONS = {
  service: { type: 'string', default: '' },
  resource: { type: 'string', default: '' },
  plural: { type: 'string' },
} as const;

/** The names of this service, in lower case. */
const SERVICE = 'plant store';
const RESOURCE = 'plant';
const PLURAL = 'plants';

/** Words about plants, and what replaces them. */
const SAMPLE_VALUES: Record<string, string> = {
  'Monstera deliciosa': 'Sample plant',
  'Monstera adansonii': 'Other plant',
  'Sequoiadendron giganteum': 'Largest plant',
  Monstera: 'Sample plant',
  climber: 'sample',
  Aloe: 'First plant',
  Fern: 'Second plant',
  fern: 'sample',
  moss: 'other',
  oak: 'unknown',
  water: 'close',
  waterPlant: 'closePlant',
  ofWaterPlant: 'ofClosePlant',
  dryPlant: 'openPlant',
  garden: 'place',
  gardens: 'places',
  Gardens: 'Places',
  createGarden: 'createPlace',
};

/** Names that cannot work, in the singular, after their reason. */
const REFUSED: [reason: string, names: string][] = [
  [
    'it is a word of JavaScript or TypeScript',
    `any argument array as async await bigint boolean break buffer case catch class const continue date debugger default
    delete do else enum error eval export extends false finally for from function if implements import in instanceof
    interface let map module never new null number object of package private process promise protected proxy public range
    record reference return set static string super switch symbol syntax this throw true try type typeof undefined unknown
    var void while with yield`,
  ],
  [
    'the code has something else with this name',
    `body check command context contract event handler header id item member name operation path property request resource
    response service shared stack table tag test token usage value`,
  ],
];

/** Files that only the template needs. */
const TEMPLATE_FILES = ['tools/rename.ts', 'test/local-run/rename.test.ts'];

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

/** Replaces the sample values. */
function replaceSampleValues(text: string): string {
  const pattern = new RegExp(`\\b(${Object.keys(SAMPLE_VALUES).join('|')})\\b`, 'g');
  return text.replaceAll(pattern, (value) => SAMPLE_VALUES[value] ?? value);
}

/** Applies a function to the base64 bodies of a sample event. */
function mapBase64Bodies(text: string, change: (body: string) => string): string {
  return text.replaceAll(/(?<="body": ")[\w+/]{40,}=*(?=")/g, (base64) => btoa(change(atob(base64))));
}

/** Removes what belongs to the template, and shows what is for a service. README.md describes the markers. */
function serviceDocument(markdown: string): string {
  return markdown
    .replaceAll(/\s*<!-- template\b.*?<!-- \/template -->/gs, '')
    .replaceAll(/<!-- service\n(.*?)\n-->/gs, '$1');
}

/** Returns the words of a name in lower case. Throws a UsageError if the name cannot work. */
function checkedName(option: string, value: string, pattern: RegExp, expected: string): string {
  const name = value
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, ' ');
  checked(option, name, pattern, expected);
  for (const [reason, names] of REFUSED) {
    if (names.split(/\s+/).some((refused) => [refused, `${refused}s`, `${refused}es`].includes(name))) {
      throw new UsageError(`${option} was "${value}", which cannot work: ${reason}.`);
    }
  }
  return name;
}

/** Returns the project's files. With git, throws if they have uncommitted changes. */
function projectFiles(): string[] {
  if (!existsSync('.git')) {
    console.log('This folder has no .git: uncommitted changes are not checked, and nothing can undo the new names.');
    const exclude = ['node_modules', 'cdk.out', '.local'].map((folder) => `**/${folder}`);
    const entries = globSync(['**', '**/.*', '**/.*/**'], { exclude, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative('.', join(parentPath, name)));
  }
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' });
  if (git('status', '--porcelain') !== '') throw new Error('The folder has uncommitted changes; commit them first.');
  return git('ls-files', '-z').split('\0').slice(0, -1);
}

function moveFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
  for (let folder = dirname(from); readdirSync(folder).length === 0; folder = dirname(folder)) rmdirSync(folder);
}

await command({ usage: USAGE, options: OPTIONS }, async (values) => {
  const noun = 'one noun of letters and digits, such as';
  const words = 'words of letters and digits, together at most 30 characters, such as "Order Desk"';
  const service = checkedName('--service', values.service, /^(?=.{1,30}$)[a-z][a-z0-9]*( [a-z0-9]+)*$/, words);
  const resource = checkedName('--resource', values.resource, /^[a-z][a-z0-9]*$/, `${noun} order`);
  const plural = checkedName('--plural', values.plural ?? `${resource}s`, /^[a-z][a-z0-9]*$/, `${noun} orders`);
  if (plural === resource) throw new UsageError(`--plural was "${plural}"; it must differ from --resource.`);

  const renameService = renamer([[SERVICE, service]]);
  const renameNames = renamer([
    [SERVICE, service],
    [PLURAL, plural],
    [RESOURCE, resource],
  ]);
  const rename = (text: string): string => mapBase64Bodies(renameNames(replaceSampleValues(text)), rename);

  process.chdir(projectRoot);
  // Before the first change, because it fails without node_modules.
  const { writeGenerated } = await import('./generate/generate.ts');
  const files = projectFiles();
  const clash = files.find((file) => renameNames(file) !== file && files.includes(renameNames(file)));
  if (clash) throw new UsageError(`The names cannot work: ${clash} would overwrite ${renameNames(clash)}.`);
  for (const file of files) {
    const content = readFileSync(file);
    if (!content.includes(0)) {
      const text = file.endsWith('.md') ? serviceDocument(content.toString()) : content.toString();
      // A lock file has names of packages, which stay.
      writeFileSync(file, file.endsWith('package-lock.json') ? renameService(text) : rename(text));
    }
    moveFile(file, renameNames(file));
  }
  for (const file of TEMPLATE_FILES) rmSync(file);
  writeFileSync('package.json', readFileSync('package.json', 'utf8').replace(/ *"rename": .*\n/, ''));
  writeGenerated();
  // Other lengths of names need other line breaks.
  execFileSync('npx', ['biome', 'check', '--write', '--log-level=error'], { stdio: 'inherit' });
  console.log(`Renamed to "${service}" with ${plural}. Run npm test, then commit.`);
});
