import type { WriteStream } from 'node:tty'
import type { Progress } from './run.ts'

export interface Reporter {
  /** One line about a step. */
  step(line: string): void
  /** How far the import is: a bar on a terminal, otherwise a line at each tenth. */
  progress(progress: Readonly<Progress>, total: { validRows: number }): void
  /** Ends the bar. */
  end(): void
}

const WIDTH = 30

/** Tells of an import on a terminal or in a log. */
export function createReporter(output: NodeJS.WriteStream | WriteStream): Reporter {
  let bar = false
  let told = -1
  let waiting: string | null = null
  const end = () => {
    if (bar) output.write('\n')
    bar = false
  }
  const step = (line: string) => {
    end()
    output.write(`${line}\n`)
  }

  function words({ phase, sent, processed, waiting }: Readonly<Progress>, validRows: number): string {
    const counted = (count: number) => count.toLocaleString('en-AU')
    if (waiting) return `Sent ${counted(sent)} of ${counted(validRows)}; trying again: ${waiting}`
    if (phase !== 'processing') return `Sent ${counted(sent)} of ${counted(validRows)} items`
    return `All sent; the platform has processed ${processed === null ? 'an unknown number' : counted(processed)} of ${counted(validRows)}`
  }

  return {
    step,
    end,
    progress(progress, { validRows }) {
      const { phase, sent, processed } = progress
      const part = phase === 'processing' ? (processed ?? 0) / validRows : sent / validRows
      if (output.isTTY) {
        const full = Math.round(Math.min(part, 1) * WIDTH)
        output.write(
          `\r\u001b[K[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${words(progress, validRows)}`,
        )
        bar = true
        return
      }
      const tenth = (phase === 'processing' ? 100 : 0) + Math.floor(part * 10)
      if (phase === 'starting' || (tenth === told && progress.waiting === waiting)) return
      told = tenth
      waiting = progress.waiting
      step(words(progress, validRows))
    },
  }
}
