/* Runs before npm start. It is JavaScript, because an older Node.js cannot run TypeScript. */
import { existsSync } from 'node:fs';

const [major] = process.versions.node.split('.');
if (!existsSync('node_modules') || Number(major) < 24) {
  console.error(
    'Run npm ci, with install scripts: the packages, or the Node.js 24 that is one of them, are not installed.',
  );
  process.exit(1);
}
