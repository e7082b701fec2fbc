/** The sandbox in a process of its own, with its limits as `OPTIONS` (JSON) says. */
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'

const { PORT = '', OPTIONS = '{}', FILE = ':memory:' } = process.env
const app = { name: 'Test App', clientId: 'test', clientSecret: 'test', redirectUrls: ['http://localhost/x'] }
createSandbox({
  baseUrl: `http://127.0.0.1:${PORT}`,
  apps: [app],
  file: FILE,
  simulated: await loadSandboxFeatures(),
  ...JSON.parse(OPTIONS),
}).app.listen(Number(PORT), '127.0.0.1')
