/*
 * Runs before each command but npm run smoke, which needs no packages. It is JavaScript, because an older Node.js cannot
 * run TypeScript.
 */
import { existsSync } from 'node:fs';

const [major] = process.versions.node.split('.');
if (!existsSync('node_modules') || Number(major) < 24) {
  console.error('Node.js 24 or the packages are missing. Run npm ci, without --ignore-scripts.');
  process.exit(1);
}
