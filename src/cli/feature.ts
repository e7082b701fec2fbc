/** `npm run feature -- NAME COMMAND`: runs `src/features/NAME/cli-COMMAND.ts`. Without a command, it lists those that there are. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'

interface FeatureCommand {
  feature: string
  name: string
  file: string
}

/** The commands of all features. */
function allCommands(): FeatureCommand[] {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  return globSync('src/features/*/cli-*.ts', { cwd: root })
    .sort()
    .map((path) => {
      const [, feature = '', name = ''] = /([^/\\]+)[/\\]cli-(.+)\.ts$/.exec(path) ?? []
      return { feature, name, file: `${root}${path}` }
    })
}

/** The first sentence of the comment that a command begins with, after the command itself. */
function purposeOf({ file }: FeatureCommand): string {
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(file, 'utf8')) ?? []
  const text = comment.replaceAll(/\s*\n \*\s*/g, ' ').trim()
  const [, sentence = ''] = /^`[^`]*`: (.*?\.)(?= |$)/.exec(text) ?? []
  return sentence
}

const list = (commands: readonly FeatureCommand[]) =>
  commands.map((command) => `  ${command.feature} ${command.name}: ${purposeOf(command)}`)

try {
  const [feature, name, ...args] = process.argv.slice(2)
  const commands = allCommands()
  const ofFeature = commands.filter((command) => command.feature === feature)
  const found = ofFeature.find((command) => command.name === name)
  if (feature === undefined || feature === '--help') {
    print('Usage: npm run feature -- NAME COMMAND [ARGS…]', '', ...list(commands))
  } else if (ofFeature.length === 0) {
    const names = [...new Set(commands.map((command) => command.feature))]
    throw new Error(
      `There is no feature "${feature}" that has commands. Those with commands are: ${names.join(', ') || 'none'}.`,
    )
  } else if (name === undefined) {
    print(...list(ofFeature))
  } else if (found) {
    // The command reads its arguments as if it had been started itself.
    process.argv = [process.execPath, found.file, ...args]
    await import(pathToFileURL(found.file).href)
  } else {
    const names = ofFeature.map((command) => command.name).join(', ')
    throw new Error(`The feature ${feature} has no command "${name}". Its commands are: ${names}.`)
  }
} catch (error) {
  fail(error)
}
