/**
 * `npm run docs`: writes the generated parts of the documentation. It writes the assumptions of all contracts to
 * docs/assumptions.md. It writes the settings to docs/configuration.md, to docs/GROUP/configuration.md for each group of features,
 * and to .env.example.
 */

import { fileURLToPath } from 'node:url'
import { type Contract, loadContracts } from '../features/contracts.ts'
import { groupsOf } from '../features/folders.ts'
import { loadFeatures } from '../features/load.ts'
import { print } from '../runtime/print.ts'
import { table } from './markdown.ts'
import { openProject } from './project.ts'
import { configurationPage, envExample } from './settings-docs.ts'

const project = openProject()

/** A section for the core, and for each feature with assumptions. */
async function assumptionSections(): Promise<string> {
  const contracts = await loadContracts()
  return contracts
    .filter(({ assumptions }) => assumptions.length > 0)
    .map(section)
    .join('\n\n')
}

function section({ name, file, assumptions }: Contract): string {
  const rows = assumptions.map(({ id, topic, assumed, cure, code, setting }) => [
    `\`${id}\``,
    topic,
    assumed,
    cure,
    [setting, `\`${code.replace('#', '`: `')}\``].filter(Boolean).join(', '),
  ])
  return `## ${name === 'core' ? 'Core' : name}

From [\`${file}\`](../${file}).

${table(['Id', 'Not specified', 'Assumed', 'If the platform differs', 'Where'], rows)}`
}

/** The path and content of a file: its handwritten introduction, and then these sections. The first section begins with `mark`. */
const withSections = (path: string, mark: string, sections: string): [string, string] => {
  const [introduction] = project.read(path).split(`\n${mark}`)
  return [path, `${introduction}\n${sections}\n`]
}

/** Expected content of each generated file, by path. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const features = await loadFeatures()
  const ofGroups = groupsOf(features.map(({ folder }) => folder)).map((group) =>
    withSections(`docs/${group}/configuration.md`, '## ', configurationPage(features, group)),
  )
  return new Map([
    withSections('docs/assumptions.md', '## ', await assumptionSections()),
    withSections('docs/configuration.md', '## ', configurationPage(features)),
    ...ofGroups,
    withSections('.env.example', '# ---', envExample(features)),
  ])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const generated = await generatedFiles()
  for (const [path, text] of generated) project.write(path, text)
  print(`Wrote ${[...generated.keys()].join(', ')}.`)
}
