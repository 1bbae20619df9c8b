/* Runs before the commands. It is JavaScript, because an older Node.js cannot run TypeScript. */
const [major] = process.versions.node.split('.');
if (Number(major) < 24) {
  console.error(`Node.js 24 is needed; this is ${process.versions.node}. Run npm ci, without --ignore-scripts.`);
  process.exit(1);
}
