/* Runs before npm test, and before each command of tools/ that needs packages. */
import './check-node.mjs';
import { existsSync } from 'node:fs';

if (!existsSync('node_modules')) {
  console.error('The packages are missing. Run npm ci, without --ignore-scripts.');
  process.exit(1);
}
