package organize

import (
	"context"

	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Folder holds links; a link is in one or in none.
type Folder struct {
	Common
	LinkCount int64 `json:"linkCount" doc:"How many links refer to it. Not part of the revision."`
}

func (f Folder) ref() op.Ref { return f.Common.ref("folder") }

var folders = table[Folder]{
	name: "folder", computed: "(SELECT COUNT(*) FROM link WHERE link.folder_id = folder.id)",
	common: func(f *Folder) *Common { return &f.Common },
	values: func(*Folder) ([]any, error) { return nil, nil },
	scan:   func(r store.Row, f *Folder, common []any) error { return r.Scan(append(common, &f.LinkCount)...) },
}

func registerFolders(p *op.Pipeline) {
	app := op.AppOf("folderId", folders.appOf)
	op.List(p, op.Op{ID: "getFolders", Method: "GET", Path: "/folders", Perm: "folders:read", App: op.AppInQuery,
		Summary: "List folders"}, folders.list)
	op.Write(p, op.Op{ID: "createFolders", Method: "POST", Path: "/folders", Perm: "folders:create", App: op.AppInBody,
		Summary: "Create a folder"}, createFolder)
	op.Read(p, op.Op{ID: "getFoldersFolderId", Method: "GET", Path: "/folders/{folderId}", Perm: "folders:read",
		App: app, Summary: "Get a folder"}, getFolder)
	op.Write(p, op.Op{ID: "updateFoldersFolderId", Method: "PATCH", Path: "/folders/{folderId}", Perm: "folders:update",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Update a folder",
		Doc: "Only the fields sent change; null clears one."}, updateFolder)
	op.Write(p, op.Op{ID: "deleteFoldersFolderId", Method: "DELETE", Path: "/folders/{folderId}",
		Perm: "folders:delete", App: app, IfMatch: op.IfMatchRequired, Summary: "Delete a folder",
		Doc: "A folder that holds links stays: 409 with its dependencies."}, removeFolder)
}

// CreateFolder is the body of createFolders.
type CreateFolder struct {
	CreateCommon
}

// SchemaName implements schema.Named.
func (CreateFolder) SchemaName() string { return "FolderCreate" }

func createFolder(ctx context.Context, _ *op.Call, tx *store.Tx,
	in *struct{ Body CreateFolder }) (op.Item[Folder], error) {
	var f Folder
	in.Body.apply(&f.Common)
	err := folders.insert(ctx, tx, &f)
	return created(f, f.ref()), err
}

type folderInput struct {
	FolderID string `path:"folderId"`
}

func getFolder(ctx context.Context, c *op.Call, in *folderInput) (op.Item[Folder], error) {
	f, err := folders.load(ctx, c.DB, in.FolderID)
	return op.Item[Folder]{Data: f, Ref: f.ref()}, err
}

// UpdateFolder is the body of updateFoldersFolderId.
type UpdateFolder struct {
	UpdateCommon
}

// SchemaName implements schema.Named.
func (UpdateFolder) SchemaName() string { return "FolderPatch" }

type updateFolderInput struct {
	FolderID string `path:"folderId"`
	Body     UpdateFolder
}

func updateFolder(ctx context.Context, c *op.Call, tx *store.Tx, in *updateFolderInput) (op.Item[Folder], error) {
	f, err := folders.current(ctx, c, tx, in.FolderID)
	if err == nil {
		in.Body.apply(&f.Common)
		err = folders.save(ctx, tx, &f)
	}
	return op.Item[Folder]{Data: f, Ref: f.ref()}, err
}

func removeFolder(ctx context.Context, c *op.Call, tx *store.Tx, in *folderInput) (op.Item[op.Nothing], error) {
	f, err := folders.current(ctx, c, tx, in.FolderID)
	if err == nil {
		err = dependents.Refuse(ctx, tx, f.ID, dependents.Query{Type: "link", SQL: `SELECT id FROM link
			WHERE folder_id = ?`})
	}
	if err == nil {
		err = folders.remove(ctx, tx, f.ID)
	}
	return op.Removed(f.ref()), err
}
