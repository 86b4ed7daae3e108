#include "simt/compile/clang_job.h"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>

#include "simt/compile/headers.h"

namespace trine::simt {
namespace {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>;

void add_file(llvm::vfs::InMemoryFileSystem& files, llvm::StringRef path, std::string_view text) {
  // PCHs need no zero after their last byte, and sources are copied to have one by whoever passes them.
  files.addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(text, path, /*RequiresNullTerminator=*/false));
}

FileSystem file_system(const ClangJob& job) {
  FileSystem disk(llvm::vfs::createPhysicalFileSystem().release());
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(disk);
  auto held = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (const auto here = disk->getCurrentWorkingDirectory()) held->setCurrentWorkingDirectory(*here);
  for (const Header& header : held_headers()) add_file(*held, header.path, header.text);
  for (const auto& [path, text] : job.files) add_file(*held, path, text);
  overlay->pushOverlay(held);
  return overlay;
}

}  // namespace

ClangOutcome run_clang(const ClangJob& job, clang::FrontendAction& action) {
  ClangOutcome outcome;
  llvm::raw_string_ostream stream(outcome.messages);
  const FileSystem files = file_system(job);

  std::vector<const char*> arguments;
  for (const std::string& argument : job.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(job.main_name.c_str());

  clang::DiagnosticOptions options;
  options.ShowPresumedLoc = true;  // #line is obeyed
  clang::TextDiagnosticPrinter printer(stream, options);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  const auto early = clang::CompilerInstance::createDiagnostics(*files, options, &printer, /*ShouldOwnClient=*/false);
  outcome.succeeded = clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *early);
  outcome.errors = printer.getNumErrors();
  if (!outcome.succeeded) return outcome;

  clang::CompilerInstance instance(std::move(invocation));
  instance.setVirtualFileSystem(files);
  instance.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  instance.setVerboseOutputStream(llvm::nulls());  // "2 errors generated."
  instance.getFrontendOpts().DisableFree = false;
  outcome.succeeded = instance.ExecuteAction(action);
  outcome.errors = printer.getNumErrors();
  return outcome;
}

}  // namespace trine::simt
