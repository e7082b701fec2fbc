/** `npm run feature -- NAME COMMAND`: runs `cli-COMMAND.ts` of a feature. Without COMMAND, it lists the commands. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The commands of all features. */
const COMMANDS = globSync('src/features/{*,*/*}/cli-*.ts', { cwd: ROOT })
  .sort()
  .map((path) => {
    const [, feature = '', name = ''] = /([^/\\]+)[/\\]cli-(.+)\.ts$/.exec(path) ?? []
    return { feature, name, file: `${ROOT}${path}` }
  })

/** The purpose of a command: the first sentence after the command line and its colon in the comment at the top of its file. */
function purposeOf(file: string): string {
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(file, 'utf8')) ?? []
  const text = comment.replaceAll(/\s*\n \*\s*/g, ' ').trim()
  const [, sentence = ''] = /^`[^`]*`: (.*?\.)(?= |$)/.exec(text) ?? []
  return sentence
}

const [feature, name, ...args] = process.argv.slice(2)
const ofFeature = COMMANDS.filter((command) => command.feature === feature)
const found = ofFeature.find((command) => command.name === name)
try {
  if (found) {
    // The command reads its arguments as if Node had started its file.
    process.argv = [process.execPath, found.file, ...args]
    await import(pathToFileURL(found.file).href)
  } else {
    const listed = ofFeature.length > 0 ? ofFeature : COMMANDS
    const list = listed.map((command) => `  ${command.feature} ${command.name}: ${purposeOf(command.file)}`)
    const asked = [feature, name].filter((word) => word && word !== '--help').join(' ')
    if (asked !== '' && (asked !== feature || ofFeature.length === 0))
      throw new Error(`There is no command "${asked}". The commands are:\n${list.join('\n')}`)
    print('Usage: npm run feature -- NAME COMMAND [ARGS…]', '', ...list)
  }
} catch (error) {
  fail(error)
}
