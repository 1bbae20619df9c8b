/* Runs before the commands of package.json. It is JavaScript, because an older Node.js cannot run TypeScript. */
import { existsSync } from 'node:fs';
import module from 'node:module';

const { node } = process.versions;
const isInstalled = existsSync('node_modules');
// The smoke test needs no packages.
if (!isInstalled && !process.argv[1]?.endsWith('smoke.ts')) stop('The packages are missing.');
if (Number.parseInt(node, 10) < 24) stop(`Node.js 24 is needed; this is ${node}.`);
// Keeps the compiled code of packages, so that the next start takes less time.
if (isInstalled) module.enableCompileCache('node_modules/.cache/node');

function stop(reason) {
  console.error(`${reason} Run npm ci, which installs Node.js 24. Do not use --ignore-scripts.`);
  process.exit(1);
}
