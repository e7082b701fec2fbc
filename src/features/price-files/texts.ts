import type { OutageKind } from '../../connect/errors.ts'
import { format } from '../../web/format.ts'

const { count, list, pluralize } = format

/**
 * What users read on the pages of this feature, by code, as in `src/web/texts.ts`. `src/tables/texts.ts` has what is wrong
 * with a file or a price. Problems of a row follow its line number.
 */
export const texts = {
  /** The platform has no such import. */
  importNotFound: 'There is no such import in this account.',

  /** The fields of an item, as in a sentence. */
  fields: {
    code: 'code',
    name: 'name',
    description: 'description',
    unit: 'unit',
    category: 'category',
    price: 'price',
  },

  /** The section of a catalogue. */
  section: {
    title: 'Import a price file',
    lead: 'Upload a spreadsheet (XLSX) or CSV file with a code and a price in each row. You can review it before anything is sent.',
    file: 'Price file',
    upload: 'Upload and check',
    imports: 'Imports',
    fileName: 'File',
    state: 'State',
    rows: 'Rows',
    uploaded: 'Uploaded',
  },

  states: {
    checking: 'checking',
    ready: 'ready to send',
    needsInput: 'needs your input',
    nothingToSend: 'nothing to send',
    running: 'running',
    completed: 'completed',
    failed: 'failed',
    stopped: 'stopped',
    unreadable: 'unreadable',
    interrupted: 'interrupted',
  },

  /** The end of an import, on the next page of its user. */
  notice: {
    completed: (file: string, items: number, catalogue: string) =>
      `Import of ${file}: ${pluralize(items, 'item')} sent to “${catalogue}”.`,
    stopped: (file: string, failure: string) => `The import of ${file} has stopped: ${failure}`,
    open: 'Open the import',
  },
  /** On the card of a connection. */
  importOf: (file: string) => `Import of ${file}`,

  page: {
    interrupted:
      'This import was interrupted. Nothing is lost. If another process of this app is running, it resumes the import within half a minute; you can also resume it now.',
    resume: 'Resume',
    checking: 'Checking the file. Nothing has been sent.',
    checkingLabel: 'Checking',
    nothingSent: 'Nothing has been sent.',
    chooseOrFix: 'Choose another row or sheet, or fix the file and upload it again.',
    fix: 'Fix the file and upload it again.',
    uploadAnother: 'Upload another file',
    remove: 'Remove this report',
    discard: 'Discard this file',
  },

  /** How the file is read. */
  reading: {
    title: 'How the file is read',
    last: 'This is how the file was read last.',
    yes: 'Yes, these are the prices',
    otherwise: 'If not, choose another column, or discard the file.',
    columns:
      'These columns of your file will be used. Change them if necessary. Row 0 means that there are no headings.',
    sheet: 'Sheet',
    headingsRow: 'Headings row',
    gst: 'GST',
    choose: 'choose…',
    none: 'Not included',
    removeGst: (percent: number) => `Remove ${percent}%`,
    keep: 'Keep as they are',
    decimal: 'Decimal sign',
    automatic: 'Automatic',
    point: 'Point: 1,234.50',
    comma: 'Comma: 1.234,50',
    column: (number: number) => `column ${number}`,
    sample: 'The first rows of the file',
    again: 'Check again',
    forget: 'Forget these answers and recognise everything again',
  },

  /** What will be sent. */
  ready: {
    title: 'What will be sent',
    rows: (valid: number, all: number, catalogue: string) =>
      `${count(valid)} of ${count(all)} rows can be sent to “${catalogue}”. Nothing has been sent yet.`,
    rowsWithProblems: (valid: number, all: number, catalogue: string, invalid: number) =>
      `${count(valid)} of ${count(all)} rows can be sent to “${catalogue}”; ${pluralize(invalid, 'row has a problem', 'rows have problems')} and will be skipped. Nothing has been sent yet.`,
    none: (all: number) =>
      `None of the ${pluralize(all, 'row')} can be sent: each has a problem. Correct them as described below, and upload them again.`,
    gstRemoved: (percent: number) =>
      `The prices include ${percent}% GST, which is removed; the result is rounded to cents.`,
    beforeTax: 'The prices are sent as prices before tax.',
    othersStay: 'Items that are in the catalogue and not in this file stay there.',
    send: (items: number) => `Send ${pluralize(items, 'item')}`,
    largestChanges: 'The largest changes of price',
    lastFile: 'Last file',
    thisFile: 'This file',
    change: 'Change',
    preview: 'Preview',
  },

  /** Headings of tables of items. */
  columns: { code: 'Code', name: 'Name', unit: 'Unit', category: 'Category', price: 'Price' },

  /** Sending, and what became of it. */
  sending: {
    completed: (items: number, catalogue: string) =>
      `The platform has completed the import: ${pluralize(items, 'item')} sent to “${catalogue}”.`,
    kept: 'Items already sent are kept. Sending again resumes this import; existing items are updated, not duplicated.',
    stopped: 'You stopped this import. Items already sent are kept, and you can resume where it stopped.',
    starting: 'Starting…',
    sending: 'Sending items to the platform.',
    processing: 'All items sent. The platform is processing them.',
    progress: 'Sent',
    leave: 'You can leave this page and come back.',
    itemsSent: 'Items sent',
    sentOf: (sent: number, all: number, batches: number) =>
      `${count(sent)} of ${count(all)}, in ${pluralize(batches, 'batch', 'batches')}`,
    processed: 'Processed by the platform',
    skipped: 'Skipped',
    rows: (rows: number) => pluralize(rows, 'row'),
    rate: 'Rate',
    itemsPerSecond: (items: number) => `${count(items)} items per second`,
    timeLeft: 'Time left',
    about: (seconds: number) => `about ${format.duration(seconds)}`,
    started: 'Started',
    ended: { completed: 'Finished', stopped: 'Stopped', failed: 'Failed' },
    again: 'Send again',
    resume: 'Resume',
    stop: 'Stop…',
    stopHint: (catalogue: string) =>
      `What has been sent stays in “${catalogue}”: builders who can see that catalogue find new prices beside old ones until the import is resumed.`,
    stopNow: 'Stop the import',
    open: 'Open the catalogue',
    waitingForTurn: 'Another import into this catalogue is running. This one continues when it has finished.',
  },

  /** Why sending waits. */
  waiting: {
    no_answer: "The platform isn't responding at the moment. The app tries again automatically.",
    error: 'The platform returned an error. The app tries again automatically.',
    busy: 'The platform accepts no more requests at the moment. The app tries again automatically.',
    unreadable: 'The platform sent an unexpected response. The app tries again automatically.',
    paused: "The platform wasn't available a moment ago. The app tries again automatically.",
    rejected: 'The platform rejected the access token. The app tries again automatically.',
    refused: 'The platform refused to renew access. The app tries again automatically.',
    store: "The app's own data store is not available. The app tries again automatically.",
  } satisfies Record<OutageKind | 'store', string>,

  /** The rows with problems. */
  problems: {
    title: 'Problems',
    all: (rows: number) => `Download all ${count(rows)} as CSV`,
    first: (shown: number, rows: number) => `The first ${shown} of ${count(rows)} rows`,
    willBeSkipped: 'Rows that will be skipped',
    wereSkipped: 'Rows that were skipped',
    line: 'Line',
    reason: 'Reason',
    row: 'Row',
    corrected: 'Corrected rows',
    upload: 'Upload the corrected rows',
    hint: 'Correct the rows in the CSV above, delete those that you leave as they are, and upload it: it is read as this file was.',
    truncated: 'The report was truncated because it is too long.',
  },

  /** Why an import has failed. `message`: what the platform says, if it does. */
  failures: {
    app: 'The import stopped because of an error in this app. It has been logged.',
    revoked:
      'Access to this account was withdrawn on the platform, or has expired. Reconnect the account, and send again.',
    fileGone: 'The price file of this import is no longer available. Upload it again.',
    itemsGone: 'The checked items of this import are no longer available. Check the file again.',
    notCompleted: (message: string) =>
      message === ''
        ? 'The platform could not complete the import.'
        : `The platform could not complete the import: ${message}`,
    fewerItems: (accepted: number, sent: number, message: string) =>
      message === ''
        ? `The platform completed the import with ${accepted} of the ${sent} items that were sent.`
        : `The platform completed the import with ${accepted} of the ${sent} items that were sent: ${message}`,
    rejectedItems: (rejected: number, sent: number, reasons: readonly string[]) =>
      `The import is incomplete: the platform rejected ${rejected} of ${sent} items. ${reasons.join(' ')}`,
    stillProcessing: (state: string) =>
      `All items were sent, but the platform is still processing them (state: "${state}"). Run the import again later.`,
  },

  /** Titles of errors, by code. */
  titles: {
    payload_too_large: 'File too large',
    unsupported_media_type: 'Unsupported media type',
    upload_quota_exceeded: 'Storage limit reached',
    storage_full: 'No space for price files',
    conflict: 'Not possible now',
    import_unreadable: 'This import cannot be read',
  },

  /** Why a request about an import cannot be carried out. */
  errors: {
    notFound: 'This import does not exist or has been discarded.',
    noReport: 'This import has no report.',
    unreadable: 'The record of this import cannot be read. Upload the file again.',
    tooLarge: (limit: string) => `The price file is larger than the limit of ${limit}.`,
    mediaType: (types: readonly string[]) =>
      `Upload the price file as multipart/form-data, or as ${types.join(', ')}.`,
    quota: (limit: string) =>
      `Your price files may use up to ${limit} in total. Discard imports that you no longer need.`,
    storageFull:
      'There is no space for more price files at the moment. Discard imports that you no longer need, or try again later.',
    tooMany: (max: number) => `You already have ${max} imports in progress. Wait for one to finish.`,
    stillStopping:
      'The import is still stopping: the platform has not answered the last request. Resume it in a minute.',
    notPossible: (state: string) => `This is not possible while the import is ${state}.`,
    readOtherwise: 'The file is read in another way by now. Look at it again.',
    notChecked: 'The file must be checked first.',
    notCorrectable:
      'This file could not be read, or has open questions, so its rows cannot be corrected. Upload the corrected file in the catalogue.',
    noRows: 'This file has no valid rows.',
    strict: (rows: number) => `${rows} rows have problems, so nothing was sent.`,
    uploadInterrupted: 'The upload was interrupted or is not a valid form.',
  },

  /** Rules for the fields of the form. */
  rules: {
    file: 'choose a price file',
    textOrNumber: 'must be text or a number',
    headingsLine: 'enter the number of a row, or 0',
    column: 'choose one of the columns',
    decimal: (values: readonly string[]) => `must be ${values.join(' or ')}`,
    gst: 'must be a percentage from 0 to 99',
  },

  /** Why a file cannot be read, beside what `src/tables/texts.ts` has. */
  unreadable: {
    noRows: 'the file has no rows.',
    onlyHeadings: 'the file has headings but no rows.',
    notHeadings: (max: number) => `it is blank, or below row ${count(max)}, so it cannot be the headings.`,
    manyColumns: (columns: number, max: number) => `it has ${columns} columns; the maximum is ${max}.`,
    notTheReport:
      'its columns are neither those of the report nor those of the file. Upload the report with its headings, or upload the whole file in the catalogue.',
    longHeading: (max: number) => `a heading is longer than ${max} characters.`,
    manyItems: 'its items take more than 1 GB. Split it into smaller files.',
    manyRows: (max: number) => `it has more than ${count(max)} rows. Split it into smaller files.`,
    tooMuch: 'this file takes too much time or memory to check. Split it into smaller files.',
    readerDied:
      'the app stopped while it was checking this file, so it does not check it again by itself. Upload it again; if it stops once more, split the file into smaller ones.',
  },

  /** What was assumed of a file. */
  remarks: {
    otherSheets: (sheet: string, others: readonly string[]) =>
      `Only the sheet "${sheet}" is sent, not ${quoted(others)}.`,
    manyOtherSheets: (sheet: string, others: readonly string[]) =>
      `Only the sheet "${sheet}" is sent, not ${quoted(others)} and others.`,
    titles: (line: number, rows: number) =>
      rows === 1
        ? `The headings are on line ${line}; the 1 row above them is not sent.`
        : `The headings are on line ${line}; the ${rows} rows above them are not sent.`,
    repeatedRows: (rows: number) =>
      rows === 1
        ? '1 row repeats an item that is sent once.'
        : `${count(rows)} rows repeat items that are sent once.`,
    free: (items: number) => (items === 1 ? '1 item has a price of 0.' : `${items} items have a price of 0.`),
    nines: (items: number) =>
      items === 1
        ? '1 item has a price of nothing but nines, which often stands for one that is not known.'
        : `${items} items have a price of nothing but nines, which often stands for one that is not known.`,
    lastChoices: 'The choices are those of your last file with the same headings.',
  },

  /** Compared with the last file for the catalogue. `much`: changed by more than 20%. */
  comparison: {
    same: 'Compared with your last file for this catalogue: nothing has changed.',
    changed: (parts: readonly string[]) =>
      `Compared with your last file for this catalogue: ${parts.join(', ')}.`,
    new: (items: number) => `${count(items)} new`,
    otherPrice: (items: number) => `${count(items)} with another price`,
    otherPriceMuch: (items: number, much: number) =>
      `${count(items)} with another price (${count(much)} of them by more than 20%)`,
    missing: (items: number) => `${count(items)} missing`,
  },

  /** Where a note about the prices stands, in the middle of a sentence. */
  places: {
    fileName: 'the name of the file',
    sheetName: 'the name of the sheet',
    sheet: (name: string) => `the sheet "${name}"`,
    aboveHeadings: 'a row above the headings',
    besideHeadings: 'a note beside the headings',
    line: (line: number) => `line ${line}`,
    printed: 'what is printed on each page',
    comment: 'a comment or a text box',
  },

  /** What the user is asked about a file. */
  questions: {
    sheet: (sheet: string, other: string) =>
      `The sheets "${sheet}" and "${other}" have the same items at different prices: choose the sheet to send.`,
    headings:
      'The first row looks like an item, not like headings. Enter the row of the headings, or 0 if the file has none.',
    noCode: 'No column was recognised as the code: choose one.',
    hiddenPrice: (heading: string) =>
      `The column "${heading}" is hidden in the workbook: choose the column that has the prices.`,
    noPrice: 'No column was recognised as the price: choose one.',
    noAmounts: (heading: string, cell: string) =>
      `The column "${heading}" has no amounts of dollars: its first cell is "${cell}". Choose the column of the price, or correct the file.`,
    oneColumn:
      'All texts of this file are in one column: its cells are not separated by commas, semicolons, tabs or pipes. Export it as CSV or XLSX.',
    allFree: (heading: string) =>
      `All prices in the column "${heading}" are 0, as those of formulas are that were never calculated. Are the items free?`,
    column: (field: string) => `Choose the column for the ${field}.`,
    columnNotInFile: 'A chosen column is not in the file.',
    sameColumn: 'Two fields use the same column.',
    notUnitPrice: (heading: string) =>
      `The column "${heading}" may not be the price of one unit: choose the price.`,
    repeatedHeading: (heading: string, columns: readonly number[], field: string) =>
      `The heading "${heading}" occurs more than once (columns ${list(columns.map(String))}): choose which one is the ${field}.`,
    severalColumns: (headings: readonly string[], columns: readonly number[], field: string) =>
      `${quoted(headings)} (columns ${list(columns.map(String))}) could all be the ${field}: choose which one is the ${field}.`,
    price: (note: string, place: string, heading: string) =>
      `The file says "${note}" (${place}). Does "${heading}" have the recommended retail price of one unit in dollars?`,
    taxInHeading: (heading: string) =>
      `The heading "${heading}" says that prices include GST, but the platform expects prices before tax: choose whether to remove it.`,
    taxMaybeInHeading: (heading: string) =>
      `The heading "${heading}" may mean that prices include GST, but the platform expects prices before tax: choose whether to remove it.`,
    taxInColumn: (heading: string) =>
      `The column "${heading}" says that prices include GST, but the platform expects prices before tax: choose whether to remove it.`,
    taxInNote: (place: string) =>
      `${format.capital(place)} says that prices include GST, but the platform expects prices before tax: choose whether to remove it.`,
    decimal: (example: string) =>
      `Prices such as "${example}" could be read in two ways: choose whether the point or the comma is the decimal sign.`,
  },

  /** The heading of a column in a file without headings. */
  headingOf: (column: number) => `Column ${column}`,

  /** What is wrong with a row. */
  row: {
    noCode: 'the code is missing.',
    sum: (text: string) => `"${text}" looks like the sum of a list, not like an item.`,
    label: (text: string) => `"${text}" looks like a heading, not like an item.`,
    repeatedHeadings: 'this row repeats the headings.',
    otherHeadings: (line: number) =>
      `the headings on line ${line} name other columns than those of the file: put the rows below them into a file of their own.`,
    unclosedQuote: (lines: number) =>
      `a quote is not closed: one cell contains ${lines} lines that look like rows.`,
    cells: (cells: number, headings: number) =>
      `it has ${cells} cells instead of ${headings}; a cell may need quotes.`,
    cellsWithoutHeadings: (cells: number, headings: number) =>
      `it has ${cells} cells under ${headings} headings: the headings may be in another row.`,
    numberAsUnit: (cell: string) =>
      `the unit is a number ("${cell}"): a comma in a cell before it may need quotes.`,
    tooLong: (field: string, length: number, max: number) =>
      `the ${field} has ${length} characters; the maximum is ${max}.`,
    formulaError: (field: string, cell: string) =>
      `the ${field} is an error of a spreadsheet formula ("${cell}").`,
    invisible: (field: string) => `the ${field} contains a line break or an invisible character.`,
    otherPrice: (code: string, line: number) =>
      `the code "${code}" has another price or unit on line ${line}, so neither is sent.`,
    lostZeros: (code: string) =>
      `the code "${code}" is shorter than those that begin with 0, so a spreadsheet may have removed its zeros. Format the column as text and export it again.`,
    movedCells: (price: string, rest: string) =>
      `the price may be ${price},${rest}, whose comma separates cells: put prices in quotes, or write them without separators.`,
    mergedCode: (first: number, last: number) =>
      `its code is merged over the lines ${first} to ${last}: enter a code in each row.`,
    noGst: (heading: string) =>
      `the column "${heading}" says that this price has no GST, so none can be removed.`,
    unknownGst: (heading: string) =>
      `the column "${heading}" differs from the first row, so the GST in this price is not known.`,
    gst: (heading: string) =>
      `the column "${heading}" says that this price includes GST: say how much, or 0 to send it as it is.`,
    deleted: (heading: string, action: string) =>
      `the column "${heading}" says that the item is no longer sold ("${action}"): it stays in a catalogue that has it; delete it there.`,
    struck: (price: string) =>
      `its price "${price}" is struck out: write the price that counts, or delete the row if the item is no longer sold.`,
    remark: (remark: string) =>
      `its remark "${remark}" says that this is not the price of one unit before tax: correct the price, and delete the remark.`,
    nameOfSeveral: (name: string) =>
      `its name "${name}" says that the price is for several: correct the price, and take the words out of the name.`,
    nameWithTax: (name: string) =>
      `its name "${name}" says that the price includes GST: choose for the file whether to remove it, or correct the row.`,
    level: (level: string) =>
      `the price level is "${level}": write the recommended retail price, or delete the row.`,
    severalUnits: (amount: string) =>
      `the price is for ${amount.replace(/^(per |\/) ?/i, '')} units, not for one.`,
    otherUnit: (priced: string, unit: string) =>
      `the price is for "${priced}", and the unit is "${unit}": write the price of that unit.`,
    otherCurrency: (currency: string) => `the price is in another currency (${currency}).`,
    mixedCurrencies: (first: string) => `the price is in another currency than an earlier one (${first}).`,
  },
}

/** `"A", "B"`. */
function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
