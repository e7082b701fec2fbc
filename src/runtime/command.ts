import { Command } from 'commander'
import { fail } from './serve.ts'

/** An argument as you type it in a shell. */
const quoted = (argument: string) => (/^[\w./:@=,-]+$/.test(argument) ? argument : JSON.stringify(argument))

class OurCommand extends Command {
  override parse(): this {
    this.#failIfKeptByNpm()
    return super.parse()
  }

  override async parseAsync(): Promise<this> {
    this.#failIfKeptByNpm()
    return super.parseAsync().catch(fail)
  }

  /** Without `--`, npm takes the options for itself, and puts them into the environment. */
  #failIfKeptByNpm(): void {
    const given = process.argv.slice(2)
    for (const { long = '', required } of [this, ...this.commands].flatMap((command) => command.options)) {
      const value = process.env[`npm_config_${long.slice(2).replaceAll('-', '_')}`]
      if (!value || given.some((argument) => argument.split('=')[0] === long)) continue
      // npm gives us a value after a space as an argument. Most people write it last.
      const words =
        required && value === 'true'
          ? given.toSpliced(-1, 0, long)
          : [...given, long, ...(required ? [value] : [])]
      const call = [this.name(), ...words.map(quoted)].join(' ')
      fail(`npm has kept ${long} for itself. Add -- before the arguments, for example: ${call}`)
    }
  }
}

/**
 * Creates a command. `call`: how to start it, such as `npm run backup --` or `npm run feature -- NAME COMMAND`. It prints its help
 * for `--help` and after invalid arguments. If its action throws, `parseAsync` prints the message and exits with 1.
 */
export function createCommand(call: string, description: string): Command {
  return new OurCommand(call)
    .description(description)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: false })
}
