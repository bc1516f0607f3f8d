package cli

// Group is the key of the commands' group in the help of the program. Their flags are no
// settings of a server.
const Group = "client"

// Commands are the commands of this package.
type Commands struct {
	Login      loginCommand      `cmd:"" group:"client" help:"Keep the address of a server and a credential for it."`
	Context    contextCommand    `cmd:"" group:"client" help:"Servers that are kept: list, choose, change, remove."`
	Link       linkCommand       `cmd:"" group:"client" help:"Links: add, list, show, archive, restore."`
	QR         qrCommand         `cmd:"" name:"qr" group:"client" help:"Write the QR code of a link."`
	Import     importCommand     `cmd:"" group:"client" help:"Bring links of another product, from a file of any size."`
	Export     exportCommand     `cmd:"" group:"client" help:"Write links, events or numbers to a file."`
	Operations operationsCommand `cmd:"" group:"client" help:"Work that outlives a request: show, follow, cancel."`
	API        apiCommand        `cmd:"" name:"api" group:"client" passthrough:"" help:"Call any operation of the contract; waymark api lists them."`
	Completion completionCommand `cmd:"" group:"client" help:"Print what a shell needs to complete commands."`
	Complete   completeCommand   `cmd:"" name:"__complete" hidden:"" passthrough:""`
}
