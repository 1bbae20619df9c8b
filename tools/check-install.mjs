/* Runs before the commands of tools/ and npm test that needs packages. */
import './check-node.mjs';
import { existsSync } from 'node:fs';

if (!existsSync('node_modules')) {
  console.error('The packages are missing. Run npm ci, without --ignore-scripts.');
  process.exit(1);
}
