/** The texts about checking and sending a file, on pages and in the command. The problems in a file are in `texts.ts`. */
import { format } from '../../../web/feature-api.ts'
import type { Difference, Question } from './difference.ts'

const { count, isolated, money, pluralize } = format

const shown = (what: string, first: number, all: number) =>
  first === all ? `${what}: ${count(all)}` : `${what}: the first ${first} of ${count(all)}`

export const texts = {
  /** The purpose of the permission; begins with "to". */
  reason: 'to import items and prices',

  /** The section on the page of a catalogue. */
  section: {
    title: 'Send a catalogue file',
    lead: 'Choose a CSV file with the columns of the template. You see the differences before anything is sent.',
    template: 'Download the template',
    sample: 'Download a sample',
    file: 'Catalogue file',
    check: 'Check',
    last: 'Last file:',
    another: 'Check another file',
  },

  states: {
    ready: 'not sent yet',
    running: 'running',
    completed: 'completed',
    failed: 'failed',
    stopped: 'stopped',
  },

  /** A file that doesn't match the template. */
  wrong: {
    lead: (file: string) => `Nothing was sent. Correct ${isolated(file)}, and check it again.`,
    kind: (errors: number, column: string, expected: string) =>
      `${pluralize(errors, 'error')} in ${isolated(column)}: expected ${expected}.`,
    line: 'Line',
    found: 'Found',
    empty: '(empty)',
  },

  differs: {
    title: 'What differs',
    first: 'This app has no items of an earlier import into this catalogue.',
    counts: {
      added: 'new',
      higher: 'higher',
      lower: 'lower',
      otherTexts: 'other texts',
      same: 'the same',
      gone: 'no longer in the file',
    } satisfies Record<keyof Difference['counts'], string>,
    changes: (first: number, all: number) => shown('Largest changes', first, all),
    added: (first: number, all: number) => shown('New items', first, all),
    gone: (first: number, all: number) => shown('No longer in the file, kept in the catalogue', first, all),
    code: 'Code',
    name: 'Name',
    unit: 'Unit',
    before: 'Before',
    price: 'Price',
    change: 'Change',
    percent: (percent: number | null) =>
      percent === null ? '—' : `${percent > 0 ? '+' : '−'}${count(Math.abs(percent))}%`,
  },

  /** The reason for asking for a tick. */
  question(question: Question): string {
    switch (question.kind) {
      case 'zero':
      case 'halved':
      case 'doubled': {
        const { code, before, after } = question.first
        const what = { zero: 'to 0', halved: 'to half or less', doubled: 'to double or more' }[question.kind]
        return `${pluralize(question.count, 'price')} changed ${what}: ${isolated(code)} from ${money(before)} to ${money(after)}.`
      }
      case 'leadingZeros':
        return `${pluralize(question.count, 'code')} may have lost leading zeros: ${isolated(question.missing)} is gone, ${isolated(question.code)} is new.`
      case 'gone':
        return `${count(question.count)} of ${pluralize(question.of, 'code')} are no longer in the file.`
    }
  },

  send: {
    confirm: 'I have looked, and this is right.',
    send: (items: number, catalogue: string) => `Send ${pluralize(items, 'item')} to ${isolated(catalogue)}`,
  },

  /** The progress and the result of sending. `said`: the platform's message, here and below. */
  sending: {
    starting: 'Starting…',
    sending: 'Sending items to the platform.',
    processing: (said: string, items: number | null) =>
      `All items were sent. The platform is processing them (${said}${items === null ? '' : `, ${pluralize(items, 'item')}`}).`,
    /** `title`: the title of the platform's outage, as on other pages. */
    waiting: (title = "The app's own data store is not available") =>
      `${title}. The app tries again automatically.`,
    leave: 'You can leave this page and come back.',
    sent: (sent: number, all: number) => `${count(sent)} of ${pluralize(all, 'item')} sent.`,
    completed: (items: number, catalogue: string) =>
      `The platform has completed the import: ${pluralize(items, 'item')} sent to ${isolated(catalogue)}.`,
    said: (said: string) => `Message from the platform: ${said}`,
    kept: 'Items that were sent stay in the catalogue. “Resume” sends all items again.',
    resume: 'Resume',
    stop: 'Stop…',
    stopHint:
      'Items that were sent stay in the catalogue, so builders see a mix of new and old prices until you resume it.',
    stopNow: 'Stop the import',
  },

  failures: {
    app: 'The import stopped because of an error in this app. It has been logged.',
    killed: 'The command that sent this file was stopped. Run it again.',
    revoked: 'Access to this business has ended. Reconnect the business, and resume the import.',
    failed: (said: string) => `The platform reported a problem with the import: ${said}`,
    startRefused: (said: string) => `The platform refused to start the import and said: ${said}`,
    /** `code`: the code of the first item of the refused upload, which has at most 1,000 items. */
    uploadRefused: (code: string, said: string) =>
      `The platform refused the upload that begins with “${code}” and said: ${said}`,
    unclear: (said: string) =>
      `The platform answered, but we could not tell whether all items arrived. It said: ${said}`,
    stillProcessing: (said: string) =>
      `All items were sent, but the platform has not completed the import: ${said}`,
  },

  /** Titles of errors, by code. */
  titles: {
    conflict: 'Not possible now',
    not_found: 'Not found',
    wrong_file: 'This file has errors',
    import_failed: 'The import was not completed',
  },

  errors: {
    notFound: 'This connection has no import into this catalogue.',
    wrongFile: "The file doesn't match the template. Nothing was sent.",
    gone: 'The items of this file are no longer stored. Check the file again.',
    notPossible: (state: string) => `This is not possible: the import is ${state}.`,
    changed:
      'The file or the catalogue has changed since you opened this page. Nothing was sent or stopped. Please review it again.',
    otherRunning:
      'Another import into this catalogue is under way. Nothing was sent. Try again when it has ended.',
    reading: 'Another of your files is being checked. Wait until that has finished.',
    interrupted: 'The upload was interrupted or is not a valid form.',
  },

  rules: { file: 'choose a catalogue file', confirm: 'tick the box to send this' },
}
